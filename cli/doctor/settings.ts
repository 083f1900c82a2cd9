import type { ComputeEnvironment, Finding, Resource, Subscription } from "./account";

/** Judges the queues of the platform. */
export function queueFindings(expected: readonly string[], queues: readonly Resource[]): readonly Finding[] {
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

/** Judges the compute environments behind the queues. */
export function environmentFindings(environments: readonly ComputeEnvironment[]): readonly Finding[] {
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

/** Judges the account setting that gives nodes of multi-node jobs an IPv6 address. */
export function ipv6Finding(value: string, publicNetwork: boolean): Finding {
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

/** Judges the role with which EC2 requests spot instances. */
export function spotRoleFinding(exists: boolean): Finding {
  const check = "service-linked role AWSServiceRoleForEC2Spot";
  if (exists) return { check, result: "ok", found: "it exists" };
  return {
    check,
    result: "problem",
    found: "it does not exist: no spot instance can start",
    fix: "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
  };
}

/** Judges whether anybody receives alarms. */
export function alarmFinding(topicArn: string, subscriptions: readonly Subscription[] | undefined): Finding {
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

/** Judges whether the budget sees the platform's bill. */
export function costTagFinding(status: string | undefined): Finding {
  const check = "cost allocation tag ringmaster";
  if (status === "Active") return { check, result: "ok", found: status };
  return {
    check,
    result: "warning",
    found: `${status ?? "Billing has not seen it yet; that takes up to a day after the first deployment"}: the account's budget stays at zero`,
    fix: "aws ce update-cost-allocation-tags-status --cost-allocation-tags-status TagKey=ringmaster,Status=Active",
  };
}
