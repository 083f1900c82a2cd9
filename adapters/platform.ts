import { BatchClient } from "@aws-sdk/client-batch";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { type PlatformConfig, readConfig } from "../core/config";
import type { DatasetRepository } from "../core/datasets/repository";
import { createLogger, type Logger } from "../core/logging";
import type { StepDependencies } from "../core/pipelines/step";
import type { Clock, ObjectStore } from "../core/ports";
import { createRegistry, type Registry } from "../core/registry/registry";
import type { MetricRepository } from "../core/tracking/metric-repository";
import type { Executions, TaskTokens, TrainingJobs } from "../core/training/ports";
import type { WorkerLogs } from "../core/training/worker-logs";
import { createTrainingJobs } from "./batch/training-jobs";
import { createDocumentClient } from "./dynamodb/client";
import { createDatasetRepository } from "./dynamodb/dataset-repository";
import { createMetricRepository } from "./dynamodb/metric-repository";
import { createModelRepository } from "./dynamodb/model-repository";
import { createRunRepository } from "./dynamodb/run-repository";
import { createStepCache } from "./dynamodb/step-cache";
import { createWorkerLogs } from "./logs/worker-logs";
import { type ContentUrls, createContentUrls } from "./s3/content-urls";
import { createObjectStore } from "./s3/object-store";
import { createExecutions } from "./stepfunctions/executions";
import { createTaskTokens } from "./stepfunctions/task-tokens";

/** All of core's ports on AWS, for one process. Endpoints are the SDK's own business (`AWS_ENDPOINT_URL`). */
export interface Platform extends StepDependencies {
  readonly config: PlatformConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly objects: ObjectStore;
  readonly contentUrls: ContentUrls;
  readonly logs: WorkerLogs;
  readonly datasets: DatasetRepository;
  readonly metrics: MetricRepository;
  readonly registry: Registry;
  readonly executions: Executions;
  readonly tokens: TaskTokens;
  readonly jobs: TrainingJobs;
}

/** Reads and checks the environment, and wires every port. Clients connect when they are first used. */
export function createPlatform(environment: Readonly<Record<string, string | undefined>> = process.env): Platform {
  const config = readConfig(environment);
  const clock: Clock = { now: () => Date.now() };
  const dynamodb = createDocumentClient();
  const s3 = new S3Client({});
  const sfn = new SFNClient({});
  return {
    config,
    clock,
    logger: createLogger((line) => process.stdout.write(`${line}\n`), clock),
    objects: createObjectStore(s3, config.bucket),
    contentUrls: createContentUrls(s3, config.bucket),
    logs: createWorkerLogs(new CloudWatchLogsClient({})),
    runs: createRunRepository(dynamodb, config.tables.catalog),
    cache: createStepCache(dynamodb, config.tables.catalog),
    datasets: createDatasetRepository(dynamodb, config.tables.catalog),
    metrics: createMetricRepository(dynamodb, config.tables.metrics),
    registry: createRegistry(createModelRepository(dynamodb, config.tables.catalog)),
    executions: createExecutions(sfn, config.stateMachineArn),
    tokens: createTaskTokens(sfn),
    jobs: createTrainingJobs(new BatchClient({}), config),
  };
}
