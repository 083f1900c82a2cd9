import type { FunctionName } from "../functions";
import {
  assumeRunRole,
  catalog,
  executions,
  listBucket,
  listSchedules,
  lookAtJobs,
  objects,
  publishToTopics,
  putEvents,
  putRunRolePolicy,
  queryIndex,
  readJobLogs,
  stateMachine,
  submitJobs,
  table,
  terminateJobs,
  writeSchedules,
} from "./grants";
import type { Permission } from "./policy";

/** The accesses of every step of the state machine to its run's rows: `core/runs/step.ts`. */
const step = catalog("GetItem", "Query", "PutItem", "UpdateItem", "BatchWriteItem");

/** Reads of metric logs and their folded segments. */
const readMetrics = ["GetItem", "BatchGetItem", "Query"] as const;
const writeMetrics = ["PutItem", "UpdateItem", "BatchWriteItem"] as const;

/** The accesses of a step without an output. */
const readAndChange = catalog("GetItem", "Query", "PutItem", "UpdateItem");

/**
 * The accesses after a change of a model: its event is published and removed from the outbox, and pointers to champions
 * are written.
 */
const changeModels: readonly Permission[] = [
  catalog("DeleteItem"),
  putEvents,
  objects("GetObject", "PutObject"),
  listBucket,
];

/**
 * The accesses of `completeTraining` and of a launch: read the job, answer the state machine, complete an attempt or
 * start the next.
 */
const training: readonly Permission[] = [
  ...submitJobs,
  lookAtJobs,
  terminateJobs,
  listBucket,
  stateMachine("SendTaskSuccess", "SendTaskFailure"),
];

/**
 * The exact permissions of each function. `test/infra/permissions.test.ts` derives the same from the handlers' code and
 * fails if they differ; it prints the lines to add or to remove. `infra/` creates roles from them, and `local/`
 * enforces them.
 */
export const functionPermissions: Readonly<Record<FunctionName, readonly Permission[]>> = {
  api: [
    catalog(
      "GetItem",
      "BatchGetItem",
      "Query",
      "PutItem",
      "UpdateItem",
      "DeleteItem",
      "ConditionCheckItem",
      "BatchWriteItem",
    ),
    queryIndex("Catalog", "gsi1"),
    table("Metrics", ...readMetrics, ...writeMetrics),
    objects("GetObject", "PutObject", "AbortMultipartUpload"),
    listBucket,
    putEvents,
    stateMachine("StartExecution", "SendTaskSuccess", "SendTaskFailure"),
    executions("StopExecution"),
    lookAtJobs,
    terminateJobs,
    readJobLogs,
    ...writeSchedules,
    // A test notification.
    publishToTopics,
  ],
  /** Verifies tokens with keys that the provider publishes; needs no resource of the platform. */
  authorize: [],
  "validate-dataset": [step, objects("GetObject", "PutObject"), listBucket],
  "prepare-features": [step, objects("GetObject", "PutObject"), listBucket],
  "launch-training": [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem", "BatchWriteItem"),
    // Copies the metrics of a training that the run reuses.
    table("Metrics", ...readMetrics, ...writeMetrics),
    objects("GetObject", "PutObject"),
    ...training,
  ],
  "finish-training": [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "BatchWriteItem"),
    queryIndex("Catalog", "gsi1"),
    objects("GetObject"),
    putEvents,
    ...training,
    executions("StopExecution"),
  ],
  evaluate: [step, table("Metrics", ...readMetrics, ...writeMetrics), objects("GetObject", "PutObject"), listBucket],
  "register-model": [step, ...changeModels],
  // Reads metrics of versions that were logged from elsewhere.
  "evaluate-gates": [step, catalog("BatchGetItem"), ...changeModels, table("Metrics", ...readMetrics)],
  "request-approval": [readAndChange, ...changeModels, stateMachine("SendTaskSuccess", "SendTaskFailure")],
  promote: [readAndChange, ...changeModels, stateMachine("SendTaskSuccess", "SendTaskFailure")],
  "conclude-run": [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"),
    putEvents,
    lookAtJobs,
    terminateJobs,
    executions("StopExecution"),
  ],
  "stream-metrics": [catalog("GetItem"), table("Metrics", ...readMetrics)],
  "ingest-metrics": [catalog("GetItem", "PutItem", "UpdateItem"), table("Metrics", ...readMetrics, ...writeMetrics)],
  "run-credentials": [catalog("GetItem"), assumeRunRole],
  "end-sessions": [catalog("GetItem", "Query", "PutItem"), putRunRolePolicy],
  "reconcile-runs": [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "BatchWriteItem"),
    queryIndex("Catalog", "gsi1"),
    objects("GetObject", "PutObject"),
    putEvents,
    ...training,
    stateMachine("StartExecution", "SendTaskHeartbeat"),
    executions("StopExecution", "DescribeExecution"),
  ],
  retrain: [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"),
    queryIndex("Catalog", "gsi1"),
    stateMachine("StartExecution"),
    ...writeSchedules,
    listSchedules,
  ],
  notify: [
    catalog("GetItem", "PutItem", "UpdateItem"),
    queryIndex("Catalog", "gsi1"),
    objects("GetObject", "PutObject"),
    listBucket,
    publishToTopics,
  ],
  "snapshot-dataset": [
    catalog("GetItem", "PutItem", "UpdateItem"),
    objects("GetObject", "PutObject", "AbortMultipartUpload"),
    listBucket,
  ],
};
