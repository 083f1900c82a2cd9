import * as z from "zod";
import type { World } from "../permissions";
import { readTeamShares, type TeamShares } from "../shares";
import type { jobQueuesOf } from "../trainer-job";
import { ConfigurationError } from "./errors";

const resource = z.string().min(1);

/** Multiply-adds up to which an evaluation runs in its function: some minutes of one thread of WebAssembly. */
export const defaultEvaluationOperations = 1e12;

/**
 * The environment of every function: names of resources, never endpoints (those are the SDK's own `AWS_ENDPOINT_URL`).
 * `infra/` and `local/` set the same variables with `environmentOf`.
 */
const environmentSchema = z.object({
  RINGMASTER_PREFIX: resource,
  RINGMASTER_BUCKET: resource,
  RINGMASTER_BUCKET_KEY_ARN: resource.optional(),
  RINGMASTER_TABLE_CATALOG: resource,
  RINGMASTER_TABLE_METRICS: resource,
  RINGMASTER_TABLE_GANGS: resource,
  RINGMASTER_TABLE_FEATURES: resource,
  RINGMASTER_STATE_MACHINE_ARN: resource,
  RINGMASTER_RUN_ROLE_ARN: resource,
  RINGMASTER_JOB_QUEUE_SPOT: resource,
  RINGMASTER_JOB_QUEUE_SPOT_GPU: resource,
  RINGMASTER_JOB_QUEUE_ON_DEMAND: resource,
  RINGMASTER_JOB_QUEUE_ON_DEMAND_GPU: resource,
  RINGMASTER_JOB_QUEUE_CLUSTER: resource,
  RINGMASTER_JOB_QUEUE_CLUSTER_GPU: resource,
  RINGMASTER_GPU_CLASSES: z
    .string()
    .default("")
    .transform((classes) => classes.split(",").filter((one) => one !== "")),
  RINGMASTER_TEAM_SHARES: z.string().default("{}").transform(readTeamShares),
  RINGMASTER_JOB_DEFINITION: resource,
  RINGMASTER_JOB_DEFINITION_GANG: resource,
  RINGMASTER_JOB_LOG_GROUP: resource,
  RINGMASTER_EVALUATION_OPERATIONS: z.coerce.number().min(0).default(defaultEvaluationOperations),
  RINGMASTER_TRAINER_IMAGE: resource.optional(),
  RINGMASTER_RETRAINING_FUNCTION_ARN: resource,
  RINGMASTER_RETRAINING_SCHEDULE_GROUP: resource,
  RINGMASTER_RETRAINING_SCHEDULE_ROLE_ARN: resource,
  RINGMASTER_RETRAINING_DEAD_LETTER_QUEUE_ARN: resource,
});

export interface PlatformConfig {
  readonly prefix: string;
  readonly bucket: string;
  /** The customer-managed key of the bucket. Absent if S3 encrypts with its own. */
  readonly bucketKeyArn?: string | undefined;
  readonly tables: Readonly<Record<"catalog" | "metrics" | "gangs" | "features", string>>;
  readonly stateMachineArn: string;
  /** The role of the trainers' sessions, each narrowed to one run. */
  readonly runRoleArn: string;
  /** One queue for each market, placement and kind of machine. */
  readonly jobQueues: ReturnType<typeof jobQueuesOf>;
  /** The GPU classes of the deployment (`gpuQueueOf`). Empty on one machine, whose own GPUs serve every class. */
  readonly gpuClasses: readonly string[];
  readonly teamShares: TeamShares;
  /** `single`: one node, also in elastic arrays. `gang`: multi-node-parallel, for placement `cluster`. */
  readonly jobDefinitions: { readonly single: string; readonly gang: string };
  /** Estimated multiply-adds above which an evaluation is a Batch job. */
  readonly evaluationOperations: number;
  /** Log group of the trainers' output. */
  readonly jobLogGroup: string;
  /**
   * Image of the container, as in the job definitions. Known only to functions that create runs; absent if trainers are
   * processes.
   */
  readonly trainerImage?: string;
  /** Resources for the schedules of retraining rules. */
  readonly retraining: {
    readonly functionArn: string;
    readonly scheduleGroup: string;
    readonly scheduleRoleArn: string;
    readonly deadLetterQueueArn: string;
  };
}

/** Reads and checks the whole environment. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): PlatformConfig {
  const parsed = environmentSchema.safeParse(environment);
  if (!parsed.success) {
    throw new ConfigurationError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  }
  const env = parsed.data;
  return {
    prefix: env.RINGMASTER_PREFIX,
    bucket: env.RINGMASTER_BUCKET,
    ...(env.RINGMASTER_BUCKET_KEY_ARN === undefined ? {} : { bucketKeyArn: env.RINGMASTER_BUCKET_KEY_ARN }),
    tables: {
      catalog: env.RINGMASTER_TABLE_CATALOG,
      metrics: env.RINGMASTER_TABLE_METRICS,
      gangs: env.RINGMASTER_TABLE_GANGS,
      features: env.RINGMASTER_TABLE_FEATURES,
    },
    stateMachineArn: env.RINGMASTER_STATE_MACHINE_ARN,
    runRoleArn: env.RINGMASTER_RUN_ROLE_ARN,
    jobQueues: {
      spot: env.RINGMASTER_JOB_QUEUE_SPOT,
      spotGpu: env.RINGMASTER_JOB_QUEUE_SPOT_GPU,
      onDemand: env.RINGMASTER_JOB_QUEUE_ON_DEMAND,
      onDemandGpu: env.RINGMASTER_JOB_QUEUE_ON_DEMAND_GPU,
      cluster: env.RINGMASTER_JOB_QUEUE_CLUSTER,
      clusterGpu: env.RINGMASTER_JOB_QUEUE_CLUSTER_GPU,
    },
    gpuClasses: env.RINGMASTER_GPU_CLASSES,
    teamShares: env.RINGMASTER_TEAM_SHARES,
    jobDefinitions: { single: env.RINGMASTER_JOB_DEFINITION, gang: env.RINGMASTER_JOB_DEFINITION_GANG },
    jobLogGroup: env.RINGMASTER_JOB_LOG_GROUP,
    evaluationOperations: env.RINGMASTER_EVALUATION_OPERATIONS,
    ...(env.RINGMASTER_TRAINER_IMAGE === undefined ? {} : { trainerImage: env.RINGMASTER_TRAINER_IMAGE }),
    retraining: {
      functionArn: env.RINGMASTER_RETRAINING_FUNCTION_ARN,
      scheduleGroup: env.RINGMASTER_RETRAINING_SCHEDULE_GROUP,
      scheduleRoleArn: env.RINGMASTER_RETRAINING_SCHEDULE_ROLE_ARN,
      deadLetterQueueArn: env.RINGMASTER_RETRAINING_DEAD_LETTER_QUEUE_ARN,
    },
  };
}

/** Returns the environment of a function for `infra/` and `local/`: the inverse of `readConfig`. */
export function environmentOf(config: PlatformConfig): Readonly<Record<string, string>> {
  return {
    RINGMASTER_PREFIX: config.prefix,
    RINGMASTER_BUCKET: config.bucket,
    ...(config.bucketKeyArn === undefined ? {} : { RINGMASTER_BUCKET_KEY_ARN: config.bucketKeyArn }),
    RINGMASTER_TABLE_CATALOG: config.tables.catalog,
    RINGMASTER_TABLE_METRICS: config.tables.metrics,
    RINGMASTER_TABLE_GANGS: config.tables.gangs,
    RINGMASTER_TABLE_FEATURES: config.tables.features,
    RINGMASTER_STATE_MACHINE_ARN: config.stateMachineArn,
    RINGMASTER_RUN_ROLE_ARN: config.runRoleArn,
    RINGMASTER_JOB_QUEUE_SPOT: config.jobQueues.spot,
    RINGMASTER_JOB_QUEUE_SPOT_GPU: config.jobQueues.spotGpu,
    RINGMASTER_JOB_QUEUE_ON_DEMAND: config.jobQueues.onDemand,
    RINGMASTER_JOB_QUEUE_ON_DEMAND_GPU: config.jobQueues.onDemandGpu,
    RINGMASTER_JOB_QUEUE_CLUSTER: config.jobQueues.cluster,
    RINGMASTER_JOB_QUEUE_CLUSTER_GPU: config.jobQueues.clusterGpu,
    RINGMASTER_GPU_CLASSES: config.gpuClasses.join(),
    RINGMASTER_TEAM_SHARES: JSON.stringify(config.teamShares),
    RINGMASTER_JOB_DEFINITION: config.jobDefinitions.single,
    RINGMASTER_JOB_DEFINITION_GANG: config.jobDefinitions.gang,
    RINGMASTER_JOB_LOG_GROUP: config.jobLogGroup,
    RINGMASTER_EVALUATION_OPERATIONS: String(config.evaluationOperations),
    ...(config.trainerImage === undefined ? {} : { RINGMASTER_TRAINER_IMAGE: config.trainerImage }),
    RINGMASTER_RETRAINING_FUNCTION_ARN: config.retraining.functionArn,
    RINGMASTER_RETRAINING_SCHEDULE_GROUP: config.retraining.scheduleGroup,
    RINGMASTER_RETRAINING_SCHEDULE_ROLE_ARN: config.retraining.scheduleRoleArn,
    RINGMASTER_RETRAINING_DEAD_LETTER_QUEUE_ARN: config.retraining.deadLetterQueueArn,
  };
}

/** Returns partition, account and region, from the platform's own ARNs. */
export function worldOf({ prefix, bucket, bucketKeyArn, stateMachineArn }: PlatformConfig): World {
  const [, partition = "", , region = "", account = ""] = stateMachineArn.split(":");
  return { partition, region, account, prefix, bucket, bucketKeyArn };
}
