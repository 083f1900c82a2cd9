import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { type TableName, tables } from "../core/platform/tables";
import type { PlatformArns } from "./names";
import type { Need } from "./needs";

const allow = (actions: string[], ...resources: string[]) => new PolicyStatement({ actions, resources });

/** The statements that a need stands for. */
export function statementsFor(need: Need, arns: PlatformArns): readonly PolicyStatement[] {
  switch (need) {
    case "catalog":
      // A transaction asks for the rights of its parts.
      return onTable("Catalog", ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"], arns);
    case "metrics:read":
      return onTable("Metrics", ["Query"], arns);
    case "metrics:write":
      return onTable("Metrics", ["UpdateItem"], arns);
    case "gangs":
      return onTable("Gangs", ["Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem"], arns);
    case "objects:read":
      // Without the right to list, S3 answers 403 where 404 is meant.
      return [allow(["s3:GetObject"], `${arns.bucket}/*`), allow(["s3:ListBucket"], arns.bucket)];
    case "objects:write":
      return [allow(["s3:PutObject", "s3:AbortMultipartUpload"], `${arns.bucket}/*`)];
    case "objects:delete":
      return [allow(["s3:DeleteObject"], `${arns.bucket}/*`)];
    case "executions:start":
      return [allow(["states:StartExecution"], arns.stateMachine)];
    case "executions:stop":
      return [allow(["states:StopExecution"], arns.executions)];
    case "executions:read":
      return [allow(["states:DescribeExecution"], arns.executions)];
    case "task-tokens":
      return [
        allow(["states:SendTaskSuccess", "states:SendTaskFailure", "states:SendTaskHeartbeat"], arns.stateMachine),
      ];
    case "jobs:run":
      return [
        allow(["batch:SubmitJob"], ...arns.jobQueues, ...arns.jobDefinitions),
        // These know no resources (service authorization reference of AWS Batch).
        allow(["batch:DescribeJobs", "batch:ListJobs"], "*"),
      ];
    case "jobs:end":
      return [allow(["batch:TerminateJob"], arns.jobs)];
    case "worker-logs":
      return [allow(["logs:FilterLogEvents"], arns.jobLogs)];
    case "ingest":
      return [allow(["lambda:InvokeFunction"], arns.function("ingest-metrics"))];
  }
}

/** The operations on a table, and queries of its indexes. */
function onTable(name: TableName, operations: readonly string[], arns: PlatformArns): readonly PolicyStatement[] {
  const arn = arns.table(name);
  const indexes = tables.find((table) => table.name === name)?.indexes ?? [];
  const actions = operations.map((operation) => `dynamodb:${operation}`);
  return [allow(actions, arn), ...indexes.map((index) => allow(["dynamodb:Query"], `${arn}/index/${index.name}`))];
}
