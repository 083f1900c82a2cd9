import { Validations } from "aws-cdk-lib";
import { arnsOf, type Resource } from "../platform/permissions";
import { resourceNames } from "../platform/trainer-job";
import { userFunctionPattern } from "../platform/user-functions";
import type { PlatformStacks } from "./platform-stacks";

/** The reasons for each resource with a wildcard in its name. The list is complete. */
const wildcardReasons = {
  "*": "These actions do not support resources (service authorization reference); test/infra/platform/roles.ts lists them.",
  objects: "The teams' data in the platform's own bucket.",
  "training-objects": "The output of trainers. Each session is narrowed to one run.",
  "evaluation-objects": "The output of large evaluations. Each session is narrowed to one run.",
  tensors: "The tensors of checkpoints. Each session is narrowed to one run.",
  executions: "Executions have no name before they exist.",
  jobs: "Jobs have no id before they exist.",
  "job-queues": "The platform's own queues of further GPU classes, one a class, which the configuration names.",
  "job-definitions": "Any revision of the platform's own definitions.",
  "job-logs": "The log streams of trainers.",
  "trigger-schedules":
    "Schedules of triggers have no name before a trigger is created; the group is the platform's own.",
  "team-topics": "The platform's own topics, one a team.",
} as const satisfies Partial<Record<Resource, string>>;

function wildcards(prefix: string): readonly (readonly [arn: string, reason: string])[] {
  const [partition, region, account] = ["<AWS::Partition>", "<AWS::Region>", "<AWS::AccountId>"];
  const world = { partition, region, account, prefix, bucket: `${prefix}-data-${account}-${region}` };
  return Object.entries(wildcardReasons).flatMap(([resource, reason]) =>
    arnsOf(resource as Resource, world)
      .filter((arn) => arn.includes("*"))
      .map((arn) => [arn, reason] as const),
  );
}

/** The policies that AWS maintains for its agents. AWS changes them with the agents' needs. */
const agentPolicies = ["AmazonEC2ContainerServiceforEC2Role"];

/** Acknowledges cdk-nag's intended findings, each with its reason. `test/infra/platform/nag.ts` refuses others. */
export function acknowledgeFindings(prefix: string, { compute, workflow, triggers }: PlatformStacks): void {
  for (const stack of [compute, workflow]) {
    for (const [resource, reason] of wildcards(prefix)) {
      Validations.of(stack).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
    }
  }
  Validations.of(compute).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:${resourceNames(prefix).hostLogGroup}:*]`,
    reason: "The log streams of instances, one an instance.",
  });
  Validations.of(workflow).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:${resourceNames(prefix).stateMachine}/*]`,
    reason: "Child executions of the machine's own distributed Maps have no name before they exist.",
  });
  Validations.of(workflow).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:${userFunctionPattern(prefix)}]`,
    reason: "Functions that users give to steps of pipelines; their name is the right to be called.",
  });
  for (const policy of agentPolicies) {
    Validations.of(compute).acknowledge({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${policy}]`,
      reason: "Maintained by AWS for its own agent.",
    });
  }
  Validations.of(workflow).acknowledge({
    id: "AwsSolutions-L1",
    reason: "Functions and trainers use Node 22, because the native packages and the container are built for it.",
  });
  for (const stack of [workflow, triggers]) {
    Validations.of(stack).acknowledge({
      id: "AwsSolutions-SQS3",
      reason: "The queue is itself the dead-letter queue.",
    });
  }
}
