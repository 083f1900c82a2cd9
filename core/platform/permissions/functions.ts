import type { FunctionName } from "../functions";
import {
  catalog,
  executions,
  listBucket,
  listSchedules,
  lookAtJobs,
  objects,
  queryIndex,
  readJobLogs,
  stateMachine,
  submitJobs,
  table,
  terminateJobs,
  writeSchedules,
} from "./grants";
import type { Permission } from "./policy";

/** What every step of the state machine does to its run's rows: `core/pipelines/step.ts`. */
const step = catalog("GetItem", "Query", "PutItem", "UpdateItem");

/** `finishTraining`: looks at the job, answers the state machine, ends an attempt or begins the next. */
const finish: readonly Permission[] = [
  catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
  objects("GetObject"),
  listBucket,
  ...submitJobs,
  lookAtJobs,
  terminateJobs,
];

/**
 * What each function may do, and nothing else. `test/infra/permissions.test.ts` derives the same from the handlers' code and fails where one
 * of the two has more: it prints the lines to add or to take away. `infra/` makes roles of this, and `local/` enforces it.
 */
export const functionPermissions: Readonly<Record<FunctionName, readonly Permission[]>> = {
  api: [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"),
    queryIndex("Catalog", "gsi1"),
    table("Metrics", "Query"),
    objects("GetObject", "PutObject"),
    listBucket,
    stateMachine("StartExecution", "SendTaskSuccess", "SendTaskFailure"),
    executions("StopExecution"),
    lookAtJobs,
    terminateJobs,
    readJobLogs,
    ...writeSchedules,
  ],
  "validate-dataset": [step, objects("GetObject", "PutObject", "AbortMultipartUpload"), listBucket],
  "prepare-features": [step, objects("GetObject", "PutObject", "AbortMultipartUpload"), listBucket],
  "launch-training": [...finish, objects("PutObject"), stateMachine("SendTaskSuccess", "SendTaskFailure")],
  "finish-training": [...finish, stateMachine("SendTaskSuccess", "SendTaskFailure")],
  evaluate: [step, objects("GetObject", "PutObject", "AbortMultipartUpload"), listBucket],
  "register-model": [step, objects("GetObject", "PutObject", "AbortMultipartUpload"), listBucket],
  "evaluate-gates": [step],
  "request-approval": [step, stateMachine("SendTaskSuccess", "SendTaskFailure")],
  promote: [step],
  "conclude-run": [catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"), lookAtJobs, terminateJobs],
  "ingest-metrics": [catalog("GetItem", "PutItem"), table("Metrics", "UpdateItem")],
  "reconcile-runs": [
    ...finish,
    queryIndex("Catalog", "gsi1"),
    stateMachine("StartExecution", "SendTaskSuccess", "SendTaskFailure", "SendTaskHeartbeat"),
    executions("StopExecution", "DescribeExecution"),
  ],
  retrain: [
    catalog("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"),
    queryIndex("Catalog", "gsi1"),
    stateMachine("StartExecution"),
    ...writeSchedules,
    listSchedules,
  ],
};
