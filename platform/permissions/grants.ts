import type { FunctionName } from "../functions";
import type { TableName } from "../tables";
import { arnsOf, type Resource, type World } from "./world";

/** The subset of an IAM policy that this platform writes. */
export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly PolicyStatement[];
}

export interface PolicyStatement {
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Conditions;
}

/** Operator → condition key → values. All keys must match; for each key one value is enough. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

export interface Permission {
  readonly resource: Resource;
  /** `dynamodb:GetItem`, …; never with a wildcard. */
  readonly actions: readonly string[];
}

/** Permissions of the role of each function. The build collects it from the handlers' ports (`lambdas/permissions.ts`). */
export type FunctionPermissions = Readonly<Record<FunctionName, readonly Permission[]>>;

/** Name of the file with `FunctionPermissions` in the directory of the bundles. */
export const functionPermissionsFile = "permissions.json";

function statementsOf(permissions: readonly Permission[], world: World): readonly PolicyStatement[] {
  return permissions.map(({ resource, actions }) => ({
    Effect: "Allow",
    Action: actions,
    Resource: arnsOf(resource, world),
  }));
}

export function policyOf(permissions: readonly Permission[], world: World): PolicyDocument {
  return { Version: "2012-10-17", Statement: statementsOf(permissions, world) };
}

/** Short forms for the permissions in `functions.ts`. */
const on =
  (resource: Resource, service: string) =>
  (...operations: readonly string[]): Permission => ({
    resource,
    actions: operations.map((operation) => `${service}:${operation}`),
  });

type TableOperation =
  | "GetItem"
  | "BatchGetItem"
  | "Query"
  | "PutItem"
  | "UpdateItem"
  | "DeleteItem"
  | "ConditionCheckItem"
  | "BatchWriteItem";

/** A transaction needs the permissions of its parts: `TransactWriteItems` with a Put needs `PutItem`. */
export const table = (name: TableName, ...operations: readonly TableOperation[]): Permission =>
  on(`table/${name}`, "dynamodb")(...operations);

export const catalog = (...operations: readonly TableOperation[]): Permission => table("Catalog", ...operations);

/** Queries of an index are granted separately from queries of its table. */
export const queryIndex = (name: TableName, index: string): Permission =>
  on(`table/${name}/${index}`, "dynamodb")("Query");

/** All parts of a multipart upload except `AbortMultipartUpload` are `PutObject`; HEAD is `GetObject`. */
export const objects = (
  ...operations: readonly ("GetObject" | "PutObject" | "DeleteObject" | "AbortMultipartUpload")[]
) => on("objects", "s3")(...operations);

export const writeTrainingObjects = on("training-objects", "s3")("PutObject", "DeleteObject", "AbortMultipartUpload");

export const writeEvaluationObjects = on("evaluation-objects", "s3")("PutObject");

/** Deletes any object permanently. Only reclamation may. */
export const eraseObjects: Permission = on("objects", "s3")("DeleteObject", "DeleteObjectVersion");
export const listVersions: Permission = on("bucket", "s3")("ListBucketVersions");
export const scanCatalog: Permission = on("table/Catalog", "dynamodb")("Scan");

export const eraseTensors: Permission = on("tensors", "s3")("DeleteObjectVersion");

/** Permits lists. Without it, S3 returns 403 instead of 404 for missing objects. */
export const listBucket: Permission = on("bucket", "s3")("ListBucket");

/** `SendTask*` refer to the state machine, not to the execution. */
export const stateMachine = on("state-machine", "states");
export const executions = on("executions", "states");

export const submitJobs: readonly Permission[] = [
  on("job-queues", "batch")("SubmitJob"),
  on("job-definitions", "batch")("SubmitJob"),
];
export const terminateJobs: Permission = on("jobs", "batch")("TerminateJob");
/** These actions have no resources. */
export const lookAtJobs: Permission = on("*", "batch")("DescribeJobs", "ListJobs");
export const describeJobDefinitions: Permission = on("*", "batch")("DescribeJobDefinitions");

export const readJobLogs: Permission = on("job-logs", "logs")("FilterLogEvents");

export const invoke = (name: FunctionName): Permission => on(`function/${name}`, "lambda")("InvokeFunction");

/** `UpdateSchedule` and `CreateSchedule` pass a role; `ListSchedules` has no resources. */
export const writeSchedules: readonly Permission[] = [
  on("trigger-schedules", "scheduler")("CreateSchedule", "UpdateSchedule", "DeleteSchedule"),
  on("trigger-role", "iam")("PassRole"),
];
export const listSchedules: Permission = on("*", "scheduler")("ListSchedules");

export const publishToTopics: Permission = on("team-topics", "sns")("Publish");

/** The account's default bus. */
export const putEvents: Permission = on("event-bus", "events")("PutEvents");

/** Ends sessions of the run role. The role's boundary limits what a policy can grant. */
export const putRunRolePolicy: Permission = on("run-role", "iam")("PutRolePolicy");

export const assumeRunRole: Permission = on("run-role", "sts")("AssumeRole");
