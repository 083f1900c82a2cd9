import type { FunctionName } from "../functions";
import type { TableName } from "../tables";
import type { Permission } from "./policy";
import type { Resource } from "./world";

/** Short forms in which `functions.ts` says who may do what. */
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

/** A transaction asks for the rights of its parts: `TransactWriteItems` with a Put needs `PutItem`. */
export const table = (name: TableName, ...operations: readonly TableOperation[]): Permission =>
  on(`table/${name}`, "dynamodb")(...operations);

export const catalog = (...operations: readonly TableOperation[]): Permission => table("Catalog", ...operations);

/** Queries of an index are granted apart from queries of its table. */
export const queryIndex = (name: TableName, index: string): Permission =>
  on(`table/${name}/${index}`, "dynamodb")("Query");

/** All parts of a multipart upload but its end by `AbortMultipartUpload` are `PutObject`; HEAD is `GetObject`. */
export const objects = (
  ...operations: readonly ("GetObject" | "PutObject" | "DeleteObject" | "AbortMultipartUpload")[]
) => on("objects", "s3")(...operations);

export const writeTrainingObjects = on("training-objects", "s3")("PutObject", "DeleteObject", "AbortMultipartUpload");

/** For lists, and because S3 answers 403 where 404 is meant to who may not list. */
export const listBucket: Permission = on("bucket", "s3")("ListBucket");

/** `SendTask*` know the state machine, not the execution. */
export const stateMachine = on("state-machine", "states");
export const executions = on("executions", "states");

export const submitJobs: readonly Permission[] = [
  on("job-queues", "batch")("SubmitJob"),
  on("job-definitions", "batch")("SubmitJob"),
];
export const terminateJobs: Permission = on("jobs", "batch")("TerminateJob");
/** These know no resources. */
export const lookAtJobs: Permission = on("*", "batch")("DescribeJobs", "ListJobs");

export const readJobLogs: Permission = on("job-logs", "logs")("FilterLogEvents");

export const invoke = (name: FunctionName): Permission => on(`function/${name}`, "lambda")("InvokeFunction");

/** `UpdateSchedule` and `CreateSchedule` hand a role over; `ListSchedules` knows no resources. */
export const writeSchedules: readonly Permission[] = [
  on("retraining-schedules", "scheduler")("CreateSchedule", "UpdateSchedule", "DeleteSchedule"),
  on("retraining-role", "iam")("PassRole"),
];
export const listSchedules: Permission = on("*", "scheduler")("ListSchedules");

/** The topics of all teams. */
export const publishToTopics: Permission = on("team-topics", "sns")("Publish");

/** The account's default bus. */
export const putEvents: Permission = on("event-bus", "events")("PutEvents");

/** Ends sessions of the run role. The role's boundary limits what a policy can grant. */
export const putRunRolePolicy: Permission = on("run-role", "iam")("PutRolePolicy");

export const assumeRunRole: Permission = on("run-role", "sts")("AssumeRole");
