import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { type TableName, tables } from "../core/platform/tables";
import type { PlatformArns } from "./names";
import type { Need } from "./needs";

const reads = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"];
const writes = ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"];

const allow = (actions: string[], ...resources: string[]) => new PolicyStatement({ actions, resources });

/** The statements that a need stands for. */
export function statementsFor(need: Need, arns: PlatformArns): readonly PolicyStatement[] {
  switch (need) {
    case "catalog":
      return onTable("Catalog", [...reads, ...writes], arns);
    case "metrics:read":
      return onTable("Metrics", reads, arns);
    case "metrics:write":
      return onTable("Metrics", [...reads, ...writes, "dynamodb:BatchWriteItem"], arns);
    case "gangs":
      return onTable("Gangs", [...reads, ...writes], arns);
    case "objects:read":
      // Without the right to list, S3 answers 403 where 404 is meant.
      return [allow(["s3:GetObject"], `${arns.bucket}/*`), allow(["s3:ListBucket"], arns.bucket)];
    case "objects:write":
      return [
        allow(
          ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
          `${arns.bucket}/*`,
        ),
      ];
    case "executions":
      return [
        allow(["states:StartExecution"], arns.stateMachine),
        allow(["states:StopExecution", "states:DescribeExecution"], arns.executions),
      ];
    case "task-tokens":
      return [
        allow(["states:SendTaskSuccess", "states:SendTaskFailure", "states:SendTaskHeartbeat"], arns.stateMachine),
      ];
    case "jobs":
      return [
        allow(["batch:SubmitJob"], ...arns.jobQueues, ...arns.jobDefinitions),
        allow(["batch:TerminateJob"], arns.jobs),
        // These know no resources (service authorization reference of AWS Batch).
        allow(["batch:DescribeJobs", "batch:ListJobs"], "*"),
      ];
    case "worker-logs":
      return [allow(["logs:FilterLogEvents", "logs:GetLogEvents"], arns.jobLogs)];
    case "ingest":
      return [allow(["lambda:InvokeFunction"], arns.function("ingest-metrics"))];
  }
}

/** The actions on a table, and queries of its indexes. */
function onTable(name: TableName, actions: string[], arns: PlatformArns): readonly PolicyStatement[] {
  const arn = arns.table(name);
  const indexes = tables.find((table) => table.name === name)?.indexes ?? [];
  return [allow(actions, arn), ...indexes.map((index) => allow(["dynamodb:Query"], `${arn}/index/${index.name}`))];
}
