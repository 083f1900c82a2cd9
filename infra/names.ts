import { ArnFormat, Aws, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { environmentOf } from "../core/config";
import { type FunctionName, functionNameIn } from "../core/platform/functions";
import { retrainingNames } from "../core/platform/retraining";
import { type TableName, tableNameIn } from "../core/platform/tables";
import { resourceNames } from "../core/platform/trainer-job";

/** Of the data bucket. Bucket names are the world's, so account and region are in it. */
export const bucketNameIn = (prefix: string) => `${prefix}-data-${Aws.ACCOUNT_ID}-${Aws.REGION}`;

/**
 * ARNs of the platform's resources, made from their names. Stacks refer to each other by name, because names are fixed and references would
 * go in circles: the state machine needs the functions, and the functions need to know the state machine.
 */
export class PlatformArns {
  readonly #stack: Stack;
  readonly #prefix: string;

  constructor(scope: Construct, prefix: string) {
    this.#stack = Stack.of(scope);
    this.#prefix = prefix;
  }

  get bucket(): string {
    return `arn:${Aws.PARTITION}:s3:::${bucketNameIn(this.#prefix)}`;
  }
  table(name: TableName): string {
    return this.#arn("dynamodb", "table", tableNameIn(this.#prefix, name));
  }
  function(name: FunctionName): string {
    return this.#named("lambda", "function", functionNameIn(this.#prefix, name));
  }
  get stateMachine(): string {
    return this.#named("states", "stateMachine", resourceNames(this.#prefix).stateMachine);
  }
  get executions(): string {
    return this.#named("states", "execution", `${resourceNames(this.#prefix).stateMachine}:*`);
  }
  get jobQueues(): string[] {
    const { jobQueueSpot, jobQueueOnDemand } = resourceNames(this.#prefix);
    return [jobQueueSpot, jobQueueOnDemand].map((queue) => this.#arn("batch", "job-queue", queue));
  }
  /** Each of any revision. */
  get jobDefinitions(): string[] {
    const { jobDefinition, jobDefinitionGang } = resourceNames(this.#prefix);
    return [jobDefinition, jobDefinitionGang].flatMap((definition) => [
      this.#arn("batch", "job-definition", definition),
      this.#arn("batch", "job-definition", `${definition}:*`),
    ]);
  }
  get jobs(): string {
    return this.#arn("batch", "job", "*");
  }
  /** Where Batch sends what containers print. */
  get jobLogs(): string {
    return this.#named("logs", "log-group", "/aws/batch/job:*");
  }

  queue(name: string): string {
    return this.#stack.formatArn({ service: "sqs", resource: name });
  }
  get retrainingRole(): string {
    const resourceName = retrainingNames({ prefix: this.#prefix, region: this.#stack.region }).scheduleRole;
    return this.#stack.formatArn({ service: "iam", region: "", resource: "role", resourceName });
  }

  #arn(service: string, resource: string, resourceName: string): string {
    return this.#stack.formatArn({ service, resource, resourceName });
  }
  #named(service: string, resource: string, resourceName: string): string {
    return this.#stack.formatArn({ service, resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  }
}

/** The environment of functions and trainers: the variables that the embedded cloud sets as well. */
export function platformEnvironment(scope: Construct, prefix: string): Readonly<Record<string, string>> {
  const names = resourceNames(prefix);
  const arns = new PlatformArns(scope, prefix);
  const retraining = retrainingNames({ prefix, region: Stack.of(scope).region });
  return environmentOf({
    prefix,
    bucket: bucketNameIn(prefix),
    tables: {
      catalog: tableNameIn(prefix, "Catalog"),
      metrics: tableNameIn(prefix, "Metrics"),
      gangs: tableNameIn(prefix, "Gangs"),
    },
    stateMachineArn: arns.stateMachine,
    jobQueues: {
      spot: names.jobQueueSpot,
      spotGpu: names.jobQueueSpotGpu,
      onDemand: names.jobQueueOnDemand,
      onDemandGpu: names.jobQueueOnDemandGpu,
    },
    teamShares: {},
    jobLogGroup: names.jobLogGroup,
    jobDefinitions: { single: names.jobDefinition, gang: names.jobDefinitionGang },
    retraining: {
      functionArn: arns.function("retrain"),
      scheduleGroup: retraining.scheduleGroup,
      scheduleRoleArn: arns.retrainingRole,
      deadLetterQueueArn: arns.queue(retraining.deadLetterQueue),
    },
  });
}
