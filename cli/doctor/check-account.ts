import { jobQueueNames } from "../../platform/trainer-job";
import type { AccountReader, ComputeEnvironment, Finding, Resource, Subscription } from "./account";

type Market = ComputeEnvironment["market"];

interface InstanceQuota {
  readonly name: string;
  readonly code: string;
  readonly gpu: boolean;
}

/** The quotas of vCPUs by family and market (Service Quotas, service `ec2`). The first pattern that matches applies. */
const quotasByFamily: readonly (readonly [RegExp, Readonly<Record<Market, InstanceQuota>>])[] = [
  [
    /^(g\d|gr\d|vt\d)/,
    {
      spot: { name: "All G and VT Spot Instance Requests", code: "L-3819A6DF", gpu: true },
      "on-demand": { name: "Running On-Demand G and VT instances", code: "L-DB2E81BA", gpu: true },
    },
  ],
  [
    /^p[234]/,
    {
      spot: { name: "All P4, P3 and P2 Spot Instance Requests", code: "L-7212CCBC", gpu: true },
      "on-demand": { name: "Running On-Demand P instances", code: "L-417A185B", gpu: true },
    },
  ],
  [
    /^p5/,
    {
      spot: { name: "All P5 Spot Instance Requests", code: "L-C4BD4855", gpu: true },
      "on-demand": { name: "Running On-Demand P instances", code: "L-417A185B", gpu: true },
    },
  ],
  [
    /^[acdhimrtz]\d/,
    {
      spot: { name: "All Standard Spot Instance Requests", code: "L-34B43A08", gpu: false },
      "on-demand": { name: "Running On-Demand Standard instances", code: "L-1216C47A", gpu: false },
    },
  ],
];

/** The quota of concurrent executions (Service Quotas, service `lambda`), and the value that the platform needs. */
const lambdaQuota = { code: "L-B99A9384", name: "Lambda concurrent executions", recommended: 300 } as const;

/** Returns the quota that limits instances of a family, or nothing for families that the table does not list. */
function quotaOf(instanceType: string, market: Market): InstanceQuota | undefined {
  return quotasByFamily.find(([pattern]) => pattern.test(instanceType))?.[1][market];
}

/** Returns the quotas that limit the compute environments, with the vCPUs that the largest of them may request. */
function neededQuotas(
  environments: readonly ComputeEnvironment[],
): readonly (InstanceQuota & { readonly vcpus: number })[] {
  const needed = new Map<string, InstanceQuota & { readonly vcpus: number }>();
  for (const { instanceTypes, market, maxVcpus } of environments) {
    const quotas = instanceTypes.flatMap((type) => quotaOf(type, market) ?? []);
    for (const quota of new Map(quotas.map((one) => [one.code, one])).values())
      needed.set(quota.code, { ...quota, vcpus: Math.max(needed.get(quota.code)?.vcpus ?? 0, maxVcpus) });
  }
  return [...needed.values()];
}

function quotaFinding(quota: InstanceQuota & { readonly vcpus: number }, value: number, gpusWanted: boolean): Finding {
  const check = `quota ${quota.code} (${quota.name})`;
  const request = `aws service-quotas request-service-quota-increase --service-code ec2 --quota-code ${quota.code} --desired-value ${quota.vcpus}`;
  // The smallest instances of the default families have 2 vCPUs, and those with a GPU have 4.
  const least = quota.gpu ? 4 : 2;
  if (value < least) {
    return {
      check,
      result: quota.gpu && !gpusWanted ? "warning" : "problem",
      found: `${value} vCPUs: no instance can start, and jobs wait without limit`,
      fix: `Request ${quota.vcpus} vCPUs: ${request}`,
    };
  }
  if (value < quota.vcpus) {
    return {
      check,
      result: "warning",
      found: `${value} vCPUs, but the compute environments may request ${quota.vcpus}: jobs above the quota wait`,
      fix: `Request more: ${request}. Or lower maxVcpus in ringmaster.config.ts`,
    };
  }
  return { check, result: "ok", found: `${value} vCPUs, and the compute environments request at most ${quota.vcpus}` };
}

function lambdaFinding(value: number): Finding {
  const { code, name, recommended } = lambdaQuota;
  const check = `quota ${code} (${name})`;
  if (value >= recommended) return { check, result: "ok", found: `${value}` };
  return {
    check,
    result: "warning",
    found: `${value}: each follower of a run uses one for up to 14 minutes, and other requests are then throttled`,
    fix: `Request 1000: aws service-quotas request-service-quota-increase --service-code lambda --quota-code ${code} --desired-value 1000. Then set functions.accountConcurrency, and deploy`,
  };
}

function queueFindings(expected: readonly string[], queues: readonly Resource[]): readonly Finding[] {
  return expected.map((name) => {
    const queue = queues.find((one) => one.name === name);
    if (queue) return resourceFinding(`queue ${name}`, queue, `aws batch update-job-queue --job-queue ${name}`);
    return {
      check: `queue ${name}`,
      result: "problem",
      found: "it does not exist in this account and region",
      fix: "Deploy the compute stack (npx cdk deploy --all), or name another platform: --prefix, AWS_REGION, AWS_PROFILE",
    };
  });
}

function environmentFindings(environments: readonly ComputeEnvironment[]): readonly Finding[] {
  return environments.map((one) =>
    resourceFinding(
      `compute environment ${one.name} (${one.market}, ${one.instanceTypes.join(", ")})`,
      one,
      `aws batch update-compute-environment --compute-environment ${one.name}`,
    ),
  );
}

function resourceFinding(check: string, { state, status, reason }: Resource, update: string): Finding {
  if (status === "INVALID" || status === "DELETING" || status === "DELETED") {
    return {
      check,
      result: "problem",
      found: `${status}: ${reason}`,
      fix: `Correct the cause, then: ${update} --state ENABLED`,
    };
  }
  if (state !== "ENABLED") {
    return { check, result: "problem", found: `it is ${state}: no job starts`, fix: `${update} --state ENABLED` };
  }
  return { check, result: "ok", found: status };
}

function ipv6Finding(value: string, publicNetwork: boolean): Finding {
  const check = "ECS account setting dualStackIPv6";
  if (!publicNetwork) return { check, result: "ok", found: `${value}; the network has no public addresses` };
  if (value === "enabled") return { check, result: "ok", found: value };
  return {
    check,
    result: "problem",
    found: `${value || "not set"}: a node of a multi-node job in a public subnet reaches no AWS endpoint`,
    fix: "aws ecs put-account-setting-default --name dualStackIPv6 --value enabled",
  };
}

function spotRoleFinding(exists: boolean): Finding {
  const check = "service-linked role AWSServiceRoleForEC2Spot";
  if (exists) return { check, result: "ok", found: "it exists" };
  return {
    check,
    result: "problem",
    found: "it does not exist: no spot instance can start",
    fix: "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
  };
}

function alarmFinding(topicArn: string, subscriptions: readonly Subscription[] | undefined): Finding {
  const check = "alarm subscription";
  if (subscriptions === undefined) {
    return {
      check,
      result: "problem",
      found: `there is no topic ${topicArn}`,
      fix: "Deploy the observability stack: npx cdk deploy --all",
    };
  }
  const confirmed = subscriptions.filter((one) => one.confirmed);
  if (confirmed.length > 0) {
    return { check, result: "ok", found: `alarms go to ${confirmed.map(({ endpoint }) => endpoint).join(", ")}` };
  }
  const [pending] = subscriptions;
  if (pending) {
    return {
      check,
      result: "problem",
      found: `${pending.endpoint} has not confirmed its subscription, so it receives no alarms`,
      fix: `Follow the link in the e-mail "AWS Notification - Subscription Confirmation". To send it again: aws sns subscribe --topic-arn ${topicArn} --protocol email --notification-endpoint ${pending.endpoint}`,
    };
  }
  return {
    check,
    result: "problem",
    found: "the topic has no subscription, so nobody receives alarms",
    fix: "Set alarms.email in ringmaster.config.ts and deploy, then confirm the subscription",
  };
}

function costTagFinding(status: string | undefined): Finding {
  const check = "cost allocation tag ringmaster";
  if (status === "Active") return { check, result: "ok", found: status };
  return {
    check,
    result: "warning",
    found: `${status ?? "Billing has not seen it yet; that takes up to a day after the first deployment"}: the account's budget stays at zero`,
    fix: "aws ce update-cost-allocation-tags-status --cost-allocation-tags-status TagKey=ringmaster,Status=Active",
  };
}

/** A fact that cannot be read is reported as unchecked, and the other checks continue. */
export async function checkAccount(reader: AccountReader, gpusWanted: boolean): Promise<readonly Finding[]> {
  const { account, region, prefix } = reader;
  const partition = region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
  const topicArn = `arn:${partition}:sns:${region}:${account}:${prefix}-alarms`;
  const findings: Finding[] = [];
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
  const message = error instanceof Error ? error.message : String(error);
  return {
    check,
    result: "unchecked",
    found: message,
    fix: "Sign in as an operator who may read this account (the policies ReadOnlyAccess and AWSBillingReadOnlyAccess suffice), and repeat",
  };
}
