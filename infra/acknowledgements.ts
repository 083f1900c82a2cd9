import { Validations } from "aws-cdk-lib";
import { resourceNames } from "../core/platform/trainer-job";
import type { PlatformStacks } from "./platform";

/** Resources with wildcards that policies may hold: a closed list, each with the reason why nothing narrower can be said. */
function wildcards(prefix: string): Readonly<Record<string, string>> {
  const names = resourceNames(prefix);
  const arn = (service: string, resource: string) =>
    `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>:${resource}`;
  return {
    "*": "These actions know no resources (service authorization reference); test/infra/nag.test.ts lists them.",
    [`arn:<AWS::Partition>:s3:::${prefix}-data-<AWS::AccountId>-<AWS::Region>/teams/*`]:
      "Objects of the platform's own bucket.",
    [arn("states", `execution:${names.stateMachine}:*`)]: "Executions have no name before they exist.",
    [arn("batch", "job/*")]: "Jobs have no id before they exist.",
    [arn("batch", `job-definition/${names.jobDefinition}:*`)]: "Any revision of the platform's own definition.",
    [arn("batch", `job-definition/${names.jobDefinitionGang}:*`)]: "Any revision of the platform's own definition.",
    [arn("logs", "log-group:/aws/batch/job:*")]: "The log streams of jobs.",
  };
}

/** Policies that AWS maintains for its agents: what those need changes with them. */
const agentPolicies = ["AmazonEC2ContainerServiceforEC2Role", "AmazonECSTaskExecutionRolePolicy"];

/**
 * Findings of cdk-nag's AwsSolutions rules that are as they should be, each with its reason. `test/infra/nag.test.ts` runs the rules: a
 * finding that is not here fails it.
 */
export function acknowledgeFindings(prefix: string, { compute, workflow, triggers }: PlatformStacks): void {
  for (const stack of [compute, workflow]) {
    for (const [resource, reason] of Object.entries(wildcards(prefix))) {
      Validations.of(stack).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
    }
  }
  for (const policy of agentPolicies) {
    Validations.of(compute).acknowledge({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${policy}]`,
      reason: "Maintained by AWS for its own agent.",
    });
  }
  Validations.of(workflow).acknowledge({
    id: "AwsSolutions-L1",
    reason: "Functions and trainers run the same Node: 22, which the native packages and the container are built for.",
  });
  Validations.of(triggers).acknowledge({
    id: "AwsSolutions-SQS3",
    reason: "The queue is itself the dead-letter queue.",
  });
}
