import { teamTopicName } from "../event-names";
import { type FunctionName, functionNameIn } from "../functions";
import { type TableName, tableNameIn } from "../tables";
import { gpuQueuePrefixes, jobQueueNames, resourceNames } from "../trainer-job";
import { triggerNames } from "../triggers";

/** The parts of ARNs: `infra/` passes CloudFormation's tokens, `local/` its one account. */
export interface World {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly prefix: string;
  readonly bucket: string;
  /** The customer-managed key of the bucket, if it has one. */
  readonly bucketKeyArn?: string | undefined;
}

/** Resources of permissions, by their names in this repository. */
export type Resource =
  | `table/${TableName}`
  /** An index of a table. */
  | `table/${TableName}/${string}`
  /** The bucket itself, for lists. */
  | "bucket"
  /** Every object of the teams in the bucket. */
  | "objects"
  /** Training's output and checkpoints, which trainers write; neither exports and later results, nor content. */
  | "training-objects"
  /** The objects that the jobs of large evaluations write. Sessions of trainers do not. */
  | "evaluation-objects"
  /** The tensors of checkpoints, which trainers also delete permanently. */
  | "tensors"
  | "state-machine"
  /** Executions of the state machine, whose names are not known in advance. */
  | "executions"
  | "job-queues"
  /** Any revision of the platform's own job definitions. */
  | "job-definitions"
  /** Jobs, whose ids are not known in advance. */
  | "jobs"
  | "job-logs"
  | `function/${FunctionName}`
  | "run-role"
  /** The default bus, which has the platform's own events. */
  | "event-bus"
  | "trigger-schedules"
  | "trigger-role"
  | "team-topics"
  /** For actions without resources (service authorization reference). */
  | "*";

const tensorKeys = "runs/*/tensors/*";

/** Returns the name of the role of trainers' sessions; `run-credentials` narrows each session to one run. */
export function runRoleNameIn({ prefix, region }: Pick<World, "prefix" | "region">): string {
  // Roles belong to the account, and the platform may be deployed in several regions.
  return `${prefix}-run-${region}`;
}

/** Returns the ARNs of a resource, wildcards included. */
export function arnsOf(resource: Resource, world: World): readonly string[] {
  const { partition, region, account, prefix, bucket } = world;
  const names = resourceNames(prefix);
  const arn = (service: string, rest: string) => `arn:${partition}:${service}:${region}:${account}:${rest}`;
  const [kind, name, index] = resource.split("/") as [string, string, string | undefined];
  switch (kind) {
    case "table": {
      const table = arn("dynamodb", `table/${tableNameIn(prefix, name as TableName)}`);
      return [index === undefined ? table : `${table}/index/${index}`];
    }
    case "bucket":
      return [`arn:${partition}:s3:::${bucket}`];
    case "objects":
      return [`arn:${partition}:s3:::${bucket}/teams/*`];
    case "training-objects":
      return ["runs/*/training/*", "runs/*/checkpoints/*", tensorKeys].map(
        (keys) => `arn:${partition}:s3:::${bucket}/teams/*/${keys}`,
      );
    case "evaluation-objects":
      return [`arn:${partition}:s3:::${bucket}/teams/*/evaluations/*`];
    case "tensors":
      return [`arn:${partition}:s3:::${bucket}/teams/*/${tensorKeys}`];
    case "state-machine":
      return [arn("states", `stateMachine:${names.stateMachine}`)];
    case "executions":
      return [arn("states", `execution:${names.stateMachine}:*`)];
    case "job-queues":
      return [...jobQueueNames(prefix), ...gpuQueuePrefixes(prefix).map((begin) => `${begin}*`)].map((queue) =>
        arn("batch", `job-queue/${queue}`),
      );
    case "job-definitions":
      return [names.jobDefinition, names.jobDefinitionGang].flatMap((definition) => [
        arn("batch", `job-definition/${definition}`),
        arn("batch", `job-definition/${definition}:*`),
      ]);
    case "jobs":
      return [arn("batch", "job/*")];
    case "job-logs":
      return [arn("logs", `log-group:${names.jobLogGroup}:*`)];
    case "function":
      return [arn("lambda", `function:${functionNameIn(prefix, name as FunctionName)}`)];
    case "event-bus":
      return [arn("events", "event-bus/default")];
    case "run-role":
      return [`arn:${partition}:iam::${account}:role/${runRoleNameIn(world)}`];
    case "trigger-schedules":
      return [arn("scheduler", `schedule/${triggerNames(world).scheduleGroup}/*`)];
    case "trigger-role":
      return [`arn:${partition}:iam::${account}:role/${triggerNames(world).scheduleRole}`];
    case "team-topics":
      return [arn("sns", teamTopicName(prefix, "*"))];
    case "*":
      return ["*"];
    default:
      throw new Error(`platform/permissions/world.ts knows no resource "${resource}"`);
  }
}
