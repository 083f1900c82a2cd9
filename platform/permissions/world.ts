import { type FunctionName, functionNameIn } from "../functions";
import { teamTopicName } from "../notifications";
import { retrainingNames } from "../retraining";
import { type TableName, tableNameIn } from "../tables";
import { jobQueueNames, resourceNames } from "../trainer-job";

/** Where the platform stands: what ARNs are made of. `infra/` gives CloudFormation's tokens, `local/` its one account. */
export interface World {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly prefix: string;
  readonly bucket: string;
}

/** What permissions are given on, by the names that this repository has for it. */
export type Resource =
  | `table/${TableName}`
  /** An index of a table. */
  | `table/${TableName}/${string}`
  /** The bucket itself, which is what listing asks for. */
  | "bucket"
  /** Every object that teams have in the bucket. */
  | "objects"
  /** The objects that trainers write: what training leaves of a run, and content. Not what is made of it afterwards, such as exports. */
  | "training-objects"
  | "state-machine"
  /** Of the state machine; they have no names before they exist. */
  | "executions"
  | "job-queues"
  /** Any revision of the platform's own. */
  | "job-definitions"
  /** They have no ids before they exist. */
  | "jobs"
  /** Where Batch sends what containers print. */
  | "job-logs"
  | `function/${FunctionName}`
  | "run-role"
  /** The default one, on which the platform's own events are. */
  | "event-bus"
  /** The schedules of retraining rules. */
  | "retraining-schedules"
  | "retraining-role"
  /** The SNS topics of all teams. */
  | "team-topics"
  /** For actions that know no resources (service authorization reference). */
  | "*";

/** The role that trainers' sessions are made from; `run-credentials` narrows each to one run. */
export function runRoleNameIn({ prefix, region }: Pick<World, "prefix" | "region">): string {
  // Roles are the account's, not a region's: the platform may stand in several.
  return `${prefix}-run-${region}`;
}

/** The ARNs, wildcards included, that a resource stands for. */
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
      return ["runs/*/training/*", "runs/*/checkpoints/*", "cas/sha256/*"].map(
        (keys) => `arn:${partition}:s3:::${bucket}/teams/*/${keys}`,
      );
    case "state-machine":
      return [arn("states", `stateMachine:${names.stateMachine}`)];
    case "executions":
      return [arn("states", `execution:${names.stateMachine}:*`)];
    case "job-queues":
      return jobQueueNames(prefix).map((queue) => arn("batch", `job-queue/${queue}`));
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
    case "retraining-schedules":
      return [arn("scheduler", `schedule/${retrainingNames(world).scheduleGroup}/*`)];
    case "retraining-role":
      return [`arn:${partition}:iam::${account}:role/${retrainingNames(world).scheduleRole}`];
    case "team-topics":
      return [arn("sns", teamTopicName(prefix, "*"))];
    case "*":
      return ["*"];
    default:
      throw new Error(`platform/permissions/world.ts knows no resource "${resource}"`);
  }
}
