import { jobQueueNames } from "../../platform/trainer-job";
import type { AccountReader, Finding } from "./account";
import { lambdaFinding, lambdaQuota, neededQuotas, quotaFinding } from "./quotas";
import {
  alarmFinding,
  costTagFinding,
  environmentFindings,
  ipv6Finding,
  queueFindings,
  spotRoleFinding,
} from "./settings";

/**
 * Checks quotas, account settings, queues and the alarm subscription of a deployed platform. A fact that cannot be read
 * is reported as unchecked, and the other checks continue.
 */
export async function checkAccount(reader: AccountReader, gpusWanted: boolean): Promise<readonly Finding[]> {
  const { account, region, prefix } = reader;
  const partition = region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
  const topicArn = `arn:${partition}:sns:${region}:${account}:${prefix}-alarms`;
  const findings: Finding[] = [];
  /** Adds the findings of a check, or the reason why it could not be done. */
  const check = async <T>(what: string, read: () => Promise<T>, judge: (value: T) => readonly Finding[]) => {
    try {
      const value = await read();
      findings.push(...judge(value));
      return value;
    } catch (error) {
      findings.push(unchecked(what, error));
      return undefined;
    }
  };
  await check(
    "queues",
    () => reader.queues(),
    (queues) => queueFindings(jobQueueNames(prefix), queues),
  );
  const environments = await check("compute environments", () => reader.environments(), environmentFindings);
  for (const needed of neededQuotas(environments ?? [])) {
    await check(
      `quota ${needed.code} (${needed.name})`,
      () => reader.quota("ec2", needed.code),
      (value) => [quotaFinding(needed, value, gpusWanted)],
    );
  }
  await check(
    `quota ${lambdaQuota.code} (${lambdaQuota.name})`,
    () => reader.quota("lambda", lambdaQuota.code),
    (value) => [lambdaFinding(value)],
  );
  await check(
    "ECS account setting dualStackIPv6",
    async () => [await reader.dualStackIPv6(), await reader.publicNetwork()] as const,
    ([value, publicNetwork]) => [ipv6Finding(value, publicNetwork)],
  );
  await check(
    "service-linked role AWSServiceRoleForEC2Spot",
    () => reader.spotRole(),
    (exists) => [spotRoleFinding(exists)],
  );
  await check(
    "alarm subscription",
    () => reader.subscriptions(topicArn),
    (all) => [alarmFinding(topicArn, all)],
  );
  await check(
    "cost allocation tag ringmaster",
    () => reader.costTag(),
    (status) => [costTagFinding(status)],
  );
  return findings;
}

function unchecked(check: string, error: unknown): Finding {
  const found = error instanceof Error ? error.message : String(error);
  return {
    check,
    result: "unchecked",
    found,
    fix: "Sign in as an operator who may read this account (the policies ReadOnlyAccess and AWSBillingReadOnlyAccess suffice), and repeat",
  };
}
