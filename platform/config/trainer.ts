import * as z from "zod";
import { teamNamePattern, teamNameRule } from "../../core/access/principals";
import { wholeJobOf } from "../../core/runs/ports";
import { functionNameIn } from "../functions";
import { memberIdOf } from "../members";
import type { PlatformConfig } from "./platform";
import { type Environment, parseEnvironment } from "./settings";

/** Empty counts as absent, as in a job definition's environment. */
const optional = z
  .string()
  .optional()
  .transform((value) => (value === "" ? undefined : value));
const index = z.coerce.number().int().min(0).optional();

const schema = z.object({
  RINGMASTER_RUN_ID: z.string().min(1),
  RINGMASTER_SEGMENT: z.coerce.number().int().min(0).default(0),
  RINGMASTER_EVALUATION: optional,
  RINGMASTER_TEAM: z.string().regex(teamNamePattern, teamNameRule),
  RINGMASTER_BUCKET: z.string().min(1),
  RINGMASTER_TABLE_GANGS: z.string().min(1),
  RINGMASTER_INGEST_FUNCTION: optional,
  RINGMASTER_CONTINUE_FUNCTION: optional,
  /** `1`: the process trains all runs of a shared job. `processes`: each in a process of its own. */
  RINGMASTER_SHARED_JOB: optional,
  RINGMASTER_ADVERTISE_HOST: optional,
  RINGMASTER_CACHE_DIR: optional,
  RINGMASTER_CONTAINER_ROOT: optional,
  RINGMASTER_CACHE_GIB: z.coerce.number().positive().default(32),
  RINGMASTER_HOST_DIRECTORY: optional,
  RINGMASTER_SPOT_POLL_MS: z.coerce.number().positive().default(1_000),
  RINGMASTER_TRACE_STEPS: optional,
  /** Number of workers of the container. */
  RINGMASTER_HOST_WORKERS: z.coerce.number().int().min(1).default(1),
  /** Index of the worker within the container. Absent in the process that starts the workers. */
  RINGMASTER_HOST_WORKER: index,
  RINGMASTER_HOST_START: z.coerce.number().int().min(1).default(1),
  AWS_BATCH_JOB_ID: optional,
  AWS_BATCH_JOB_ATTEMPT: z.coerce.number().int().min(1).default(1),
  AWS_BATCH_JOB_ARRAY_INDEX: index,
  AWS_BATCH_JOB_NODE_INDEX: index,
});

/** A trainer's settings from its environment; everything else is in the store. */
export interface TrainerConfig {
  readonly runId: string;
  /** Segment of the run that the job trains. */
  readonly segment: number;
  /** Hash of the inputs of the evaluation that the job computes; `undefined`: the job trains. */
  readonly evaluation: string | undefined;
  /** Team of the run. Everything that the trainer reads and writes in the bucket is under this team's prefix. */
  readonly team: string;
  readonly bucket: string;
  readonly gangsTable: string;
  /** Destination of metrics; `undefined`: none. */
  readonly ingestFunction: string | undefined;
  /** Function that names the job's next trial; `undefined`: the job trains one run. */
  readonly continueFunction: string | undefined;
  /** Whether each run of the job is trained in a process of its own. */
  readonly processPerTraining: boolean;
  /** The whole Batch job, of which this worker is a child or a node. */
  readonly jobId: string;
  readonly workerIndex: number;
  /** Number of workers of the container that this process has to start; `undefined`: this process is a worker. */
  readonly startsWorkers: number | undefined;
  /** Id of the container's attempt in Batch, `<job>/<attempt>`. */
  readonly containerId: string;
  /** Unique among live processes. */
  readonly memberId: string;
  /** Address for the other workers; `undefined`: determined by `advertisedHost`. */
  readonly advertiseHost: string | undefined;
  /** Shared by the workers of a host. */
  readonly cacheDirectory: string;
  readonly cacheLimitBytes: number;
  /** Folder of a container's input and output, `/opt/ml` in an image; `undefined`: a temporary one for each worker. */
  readonly containerRoot: string | undefined;
  /** Writes a log line for each finished step: worker, generation and time. */
  readonly traceSteps: boolean;
  /** Directory in which the host describes itself (`hostFiles`); `undefined`: none. */
  readonly hostDirectory: string | undefined;
  /** Milliseconds between two looks for a spot notice. */
  readonly spotPollMs: number;
}

export interface TrainerHost {
  readonly hostname: string;
  readonly pid: number;
  readonly temporaryDirectory: string;
}

/** @throws ConfigurationError with every problem */
export function readTrainerConfig(environment: Environment, host: TrainerHost): TrainerConfig {
  const env = parseEnvironment(schema, environment);
  const job = env.AWS_BATCH_JOB_ID ?? `${host.hostname}-${host.pid}`;
  const attempt = env.AWS_BATCH_JOB_ATTEMPT;
  const { RINGMASTER_HOST_WORKERS: workers, RINGMASTER_HOST_WORKER: worker, RINGMASTER_HOST_START: start } = env;
  const container = env.AWS_BATCH_JOB_ARRAY_INDEX ?? env.AWS_BATCH_JOB_NODE_INDEX ?? 0;
  const place = workers > 1 && worker !== undefined ? { worker, start } : undefined;
  return {
    runId: env.RINGMASTER_RUN_ID,
    segment: env.RINGMASTER_SEGMENT,
    evaluation: env.RINGMASTER_EVALUATION,
    team: env.RINGMASTER_TEAM,
    bucket: env.RINGMASTER_BUCKET,
    gangsTable: env.RINGMASTER_TABLE_GANGS,
    ingestFunction: env.RINGMASTER_INGEST_FUNCTION,
    continueFunction: env.RINGMASTER_SHARED_JOB === undefined ? undefined : env.RINGMASTER_CONTINUE_FUNCTION,
    processPerTraining: env.RINGMASTER_SHARED_JOB === "processes",
    workerIndex: container * workers + (place?.worker ?? 0),
    startsWorkers: workers > 1 && place === undefined ? workers : undefined,
    containerId: memberIdOf(job, attempt),
    jobId: wholeJobOf(job),
    memberId: memberIdOf(job, attempt, place),
    advertiseHost: env.RINGMASTER_ADVERTISE_HOST,
    cacheDirectory: env.RINGMASTER_CACHE_DIR ?? `${host.temporaryDirectory}/ringmaster-shards`,
    containerRoot: env.RINGMASTER_CONTAINER_ROOT,
    cacheLimitBytes: env.RINGMASTER_CACHE_GIB * 2 ** 30,
    traceSteps: env.RINGMASTER_TRACE_STEPS === "1",
    hostDirectory: env.RINGMASTER_HOST_DIRECTORY,
    spotPollMs: env.RINGMASTER_SPOT_POLL_MS,
  };
}

/** Returns a trainer's environment for `infra/` and `local/`. The run's own variables come with its job. */
export function trainerEnvironmentOf({
  prefix,
  bucket,
  tables,
}: Pick<PlatformConfig, "prefix" | "bucket"> & {
  readonly tables: Pick<PlatformConfig["tables"], "gangs">;
}): Readonly<Record<string, string>> {
  return {
    RINGMASTER_BUCKET: bucket,
    RINGMASTER_TABLE_GANGS: tables.gangs,
    RINGMASTER_INGEST_FUNCTION: functionNameIn(prefix, "ingest-metrics"),
    RINGMASTER_CREDENTIALS_FUNCTION: functionNameIn(prefix, "run-credentials"),
    RINGMASTER_CONTINUE_FUNCTION: functionNameIn(prefix, "continue-job"),
  };
}
