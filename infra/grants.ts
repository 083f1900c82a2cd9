import { ArnFormat, type Stack } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { functionNameIn } from "../core/platform/functions";
import type { TableName } from "../core/platform/tables";
import { resourceNames } from "../core/platform/trainer-job";
import type { Need } from "./needs";

export interface GrantTargets {
  readonly prefix: string;
  readonly tables: Readonly<Record<TableName, ITable>>;
  readonly bucket: IBucket;
}

/** Where Batch sends what containers print. */
const batchLogGroup = "/aws/batch/job";

/**
 * The statements that a need stands for. Resources of other stacks that would depend on this one are named, not referenced: names are
 * fixed by `core/platform`, and stacks stay free of circles.
 */
export function statementsFor(need: Need, stack: Stack, { prefix, tables, bucket }: GrantTargets): PolicyStatement[] {
  const names = resourceNames(prefix);
  const arn = (service: string, resource: string, resourceName: string, format = ArnFormat.SLASH_RESOURCE_NAME) =>
    stack.formatArn({ service, resource, resourceName, arnFormat: format });
  const named = (service: string, resource: string, name: string) =>
    arn(service, resource, name, ArnFormat.COLON_RESOURCE_NAME);
  const allow = (actions: string[], ...resources: string[]) => new PolicyStatement({ actions, resources });

  switch (need) {
    case "catalog":
      return [
        allow(["dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem", ...writes], tables.Catalog.tableArn),
        allow(["dynamodb:Query"], `${tables.Catalog.tableArn}/index/*`),
      ];
    case "metrics:read":
      return [allow(["dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"], tables.Metrics.tableArn)];
    case "metrics:write":
      return [
        allow(["dynamodb:GetItem", "dynamodb:Query", ...writes, "dynamodb:BatchWriteItem"], tables.Metrics.tableArn),
      ];
    case "gangs":
      return [allow(["dynamodb:GetItem", "dynamodb:Query", ...writes], tables.Gangs.tableArn)];
    case "objects:read":
      // Without the right to list, S3 answers 403 where 404 is meant.
      return [allow(["s3:GetObject"], bucket.arnForObjects("*")), allow(["s3:ListBucket"], bucket.bucketArn)];
    case "objects:write":
      return [
        allow(
          ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
          bucket.arnForObjects("*"),
        ),
      ];
    case "executions":
      return [
        allow(["states:StartExecution"], named("states", "stateMachine", names.stateMachine)),
        allow(
          ["states:StopExecution", "states:DescribeExecution"],
          named("states", "execution", `${names.stateMachine}:*`),
        ),
      ];
    case "task-tokens":
      return [
        allow(
          ["states:SendTaskSuccess", "states:SendTaskFailure", "states:SendTaskHeartbeat"],
          named("states", "stateMachine", names.stateMachine),
        ),
      ];
    case "jobs":
      return [
        allow(
          ["batch:SubmitJob"],
          ...[names.jobQueueSpot, names.jobQueueOnDemand].map((queue) => arn("batch", "job-queue", queue)),
          ...[names.jobDefinition, names.jobDefinitionGang].flatMap((definition) => [
            arn("batch", "job-definition", definition),
            arn("batch", "job-definition", `${definition}:*`),
          ]),
        ),
        allow(["batch:TerminateJob"], arn("batch", "job", "*")),
        // These know no resources (service authorization reference of AWS Batch).
        allow(["batch:DescribeJobs", "batch:ListJobs"], "*"),
      ];
    case "worker-logs":
      return [allow(["logs:FilterLogEvents", "logs:GetLogEvents"], named("logs", "log-group", `${batchLogGroup}:*`))];
    case "ingest":
      return [allow(["lambda:InvokeFunction"], named("lambda", "function", functionNameIn(prefix, "ingest-metrics")))];
  }
}

const writes = ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"];
