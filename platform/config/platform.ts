import * as z from "zod";
import type { World } from "../permissions";
import { readTeamShares } from "../shares";
import { type ConfigOf, type Environment, readVariables, variable, writeVariables } from "./settings";

/** Multiply-adds up to which an evaluation runs in its function: some minutes of one thread of WebAssembly. */
export const defaultEvaluationOperations = 1e12;

const gpuClasses = z
  .string()
  .default("")
  .transform((classes) => classes.split(",").filter((one) => one !== ""));
const teamShares = z.string().default("{}").transform(readTeamShares);

/**
 * The environment of every function: names of resources, never endpoints (those are the SDK's own `AWS_ENDPOINT_URL`).
 * `infra/` and `local/` set the same variables with `environmentOf`.
 */
const variables = {
  prefix: variable("RINGMASTER_PREFIX"),
  bucket: variable("RINGMASTER_BUCKET"),
  /** The customer-managed key of the bucket. Absent if S3 encrypts with its own. */
  bucketKeyArn: variable("RINGMASTER_BUCKET_KEY_ARN", z.string().min(1).optional()),
  tables: {
    catalog: variable("RINGMASTER_TABLE_CATALOG"),
    metrics: variable("RINGMASTER_TABLE_METRICS"),
    gangs: variable("RINGMASTER_TABLE_GANGS"),
    features: variable("RINGMASTER_TABLE_FEATURES"),
  },
  stateMachineArn: variable("RINGMASTER_STATE_MACHINE_ARN"),
  /** The role of the trainers' sessions, each narrowed to one run. */
  runRoleArn: variable("RINGMASTER_RUN_ROLE_ARN"),
  /** One queue for each market, placement and kind of machine (`jobQueuesOf`). */
  jobQueues: {
    spot: variable("RINGMASTER_JOB_QUEUE_SPOT"),
    spotGpu: variable("RINGMASTER_JOB_QUEUE_SPOT_GPU"),
    onDemand: variable("RINGMASTER_JOB_QUEUE_ON_DEMAND"),
    onDemandGpu: variable("RINGMASTER_JOB_QUEUE_ON_DEMAND_GPU"),
    cluster: variable("RINGMASTER_JOB_QUEUE_CLUSTER"),
    clusterGpu: variable("RINGMASTER_JOB_QUEUE_CLUSTER_GPU"),
  },
  /** The GPU classes of the deployment (`gpuQueueOf`). Empty on one machine, whose own GPUs serve every class. */
  gpuClasses: variable("RINGMASTER_GPU_CLASSES", gpuClasses),
  teamShares: variable("RINGMASTER_TEAM_SHARES", teamShares, JSON.stringify),
  /** `single`: one node, also in elastic arrays. `gang`: multi-node-parallel, for placement `cluster`. */
  jobDefinitions: {
    single: variable("RINGMASTER_JOB_DEFINITION"),
    gang: variable("RINGMASTER_JOB_DEFINITION_GANG"),
  },
  /** Log group of the trainers' output. */
  jobLogGroup: variable("RINGMASTER_JOB_LOG_GROUP"),
  /** Estimated multiply-adds above which an evaluation is a Batch job. */
  evaluationOperations: variable(
    "RINGMASTER_EVALUATION_OPERATIONS",
    z.coerce.number().min(0).default(defaultEvaluationOperations),
  ),
  /** Image of the container, as in the job definitions, for functions that create runs; absent for processes. */
  trainerImage: variable("RINGMASTER_TRAINER_IMAGE", z.string().min(1).optional()),
  triggers: {
    functionArn: variable("RINGMASTER_TRIGGER_FUNCTION_ARN"),
    scheduleGroup: variable("RINGMASTER_TRIGGER_SCHEDULE_GROUP"),
    scheduleRoleArn: variable("RINGMASTER_TRIGGER_SCHEDULE_ROLE_ARN"),
    deadLetterQueueArn: variable("RINGMASTER_TRIGGER_DEAD_LETTER_QUEUE_ARN"),
  },
};

export interface PlatformConfig extends ConfigOf<typeof variables> {}

export const readConfig = (environment: Environment): PlatformConfig => readVariables(variables, environment);

/** Returns the environment of a function for `infra/` and `local/`: the inverse of `readConfig`. */
export const environmentOf = (config: PlatformConfig): Readonly<Record<string, string>> =>
  writeVariables(variables, config);

/** Returns partition, account and region, from the platform's own ARNs. */
export function worldOf({ prefix, bucket, bucketKeyArn, stateMachineArn }: PlatformConfig): World {
  const [, partition = "", , region = "", account = ""] = stateMachineArn.split(":");
  return { partition, region, account, prefix, bucket, bucketKeyArn };
}
