import type { Permission } from "../../../platform/permissions";

/** SDK commands and their rights: the action (service authorization reference) and its resource. */
export const fixed: Readonly<Record<string, readonly (readonly [action: string, resource: Permission["resource"]])[]>> =
  {
    // A caller who may not list gets 403 for a missing object.
    GetObjectCommand: [
      ["s3:GetObject", "objects"],
      ["s3:ListBucket", "bucket"],
    ],
    HeadObjectCommand: [
      ["s3:GetObject", "objects"],
      ["s3:ListBucket", "bucket"],
    ],
    // A copy of an object onto itself also reads it.
    CopyObjectCommand: [
      ["s3:GetObject", "objects"],
      ["s3:PutObject", "objects"],
    ],
    ListObjectsV2Command: [["s3:ListBucket", "bucket"]],
    PutObjectCommand: [["s3:PutObject", "objects"]],
    CreateMultipartUploadCommand: [["s3:PutObject", "objects"]],
    UploadPartCommand: [["s3:PutObject", "objects"]],
    UploadPartCopyCommand: [
      ["s3:GetObject", "objects"],
      ["s3:PutObject", "objects"],
    ],
    CompleteMultipartUploadCommand: [["s3:PutObject", "objects"]],
    AbortMultipartUploadCommand: [["s3:AbortMultipartUpload", "objects"]],
    DeleteObjectCommand: [["s3:DeleteObject", "objects"]],
    StartExecutionCommand: [["states:StartExecution", "state-machine"]],
    StopExecutionCommand: [["states:StopExecution", "executions"]],
    DescribeExecutionCommand: [["states:DescribeExecution", "executions"]],
    SendTaskSuccessCommand: [["states:SendTaskSuccess", "state-machine"]],
    SendTaskFailureCommand: [["states:SendTaskFailure", "state-machine"]],
    SendTaskHeartbeatCommand: [["states:SendTaskHeartbeat", "state-machine"]],
    SubmitJobCommand: [
      ["batch:SubmitJob", "job-queues"],
      ["batch:SubmitJob", "job-definitions"],
    ],
    TerminateJobCommand: [["batch:TerminateJob", "jobs"]],
    DescribeJobsCommand: [["batch:DescribeJobs", "*"]],
    ListJobsCommand: [["batch:ListJobs", "*"]],
    FilterLogEventsCommand: [["logs:FilterLogEvents", "job-logs"]],
    PutEventsCommand: [["events:PutEvents", "event-bus"]],
    PublishCommand: [["sns:Publish", "team-topics"]],
    AssumeRoleCommand: [["sts:AssumeRole", "run-role"]],
    // A schedule gets the role with which it calls its target.
    CreateScheduleCommand: [
      ["scheduler:CreateSchedule", "retraining-schedules"],
      ["iam:PassRole", "retraining-role"],
    ],
    UpdateScheduleCommand: [
      ["scheduler:UpdateSchedule", "retraining-schedules"],
      ["iam:PassRole", "retraining-role"],
    ],
    DeleteScheduleCommand: [["scheduler:DeleteSchedule", "retraining-schedules"]],
    ListSchedulesCommand: [["scheduler:ListSchedules", "*"]],
  };

/** The files that sign requests themselves instead of sending the SDK's commands. */
export const signing: typeof fixed = {
  "adapters/iam/session-denials.ts": [["iam:PutRolePolicy", "run-role"]],
};

/** The commands of the document client. */
export const tableCommands: Readonly<Record<string, string>> = {
  GetCommand: "GetItem",
  BatchGetCommand: "BatchGetItem",
  QueryCommand: "Query",
  PutCommand: "PutItem",
  UpdateCommand: "UpdateItem",
  DeleteCommand: "DeleteItem",
  BatchWriteCommand: "BatchWriteItem",
};
/** The parts of a transaction. Each needs its own right. */
export const transactionParts: Readonly<Record<string, string>> = {
  Put: "PutItem",
  Update: "UpdateItem",
  Delete: "DeleteItem",
  ConditionCheck: "ConditionCheckItem",
  Get: "GetItem",
};
export const transactions = new Set(["TransactWriteCommand", "TransactGetCommand"]);
