import * as z from "zod";
import { count, datasetReference, instant, nextToken, type Shape, sha256, texts, warning } from "../shapes";
import { fineTuneSource } from "./fine-tune";
import { jobSchema } from "./job";
import { progressSchema } from "./progress";
import { phases, runStatuses } from "./run-states";

export const job = jobSchema.meta({ id: "Job", description: "A job with every default filled in." });

export const phase = z.enum(phases).meta({ id: "Phase", description: "A step of the run's state machine." });

const failure = z.object({
  code: z.string(),
  message: z.string(),
  phase: phase.optional(),
  details: z.unknown().optional(),
});
export interface RunFailure extends Shape<typeof failure> {}

const verdict = { model: z.string(), version: z.int(), reasons: z.array(z.string()) };

const outcome = z
  .discriminatedUnion("decision", [
    z.object({ decision: z.literal("promoted"), model: z.string(), version: z.int() }),
    z.object({ decision: z.literal("registered"), model: z.string(), version: z.int() }),
    z.object({ decision: z.literal("refused-by-gate"), ...verdict }),
    z.object({ decision: z.literal("rejected"), ...verdict }),
    z.object({
      decision: z.literal("not-registered"),
      passed: z.boolean().meta({ description: "Whether the gates of its job would let its model pass." }),
      reasons: z.array(z.string()).meta({ description: "Evidence of each gate that would not." }),
    }),
  ])
  .meta({ id: "RunOutcome", description: "Result for the model of a completed run." });
export type RunOutcome = Shape<typeof outcome>;

export const codeReference = z
  .strictObject({
    repository: z.string().max(1_000).optional(),
    branch: z.string().max(255).optional(),
    commit: z.string().max(200).optional(),
    dirty: z.boolean().optional().meta({ description: "Whether files differed from the commit." }),
    diffSha256: sha256.optional().meta({ description: "Uncommitted changes as a patch, in the content store." }),
    moduleSha256: sha256.optional().meta({ description: "Bundle of the user's module, in the content store." }),
  })
  .meta({ id: "CodeReference", description: "Origin of a run's code." });
export interface CodeReference extends Shape<typeof codeReference> {}

export const submittedEnvironment = z
  .strictObject({
    lockfileSha256: sha256.optional().meta({ description: "SHA-256 of the lockfile next to the code." }),
    imageDigest: z.string().max(200).optional().meta({ description: "Digest of the trainer's container image." }),
  })
  .meta({ id: "SubmittedEnvironment", description: "Environment of the submission, in addition to its code." });
export interface SubmittedEnvironment extends Shape<typeof submittedEnvironment> {}

const runEnvironment = submittedEnvironment
  .extend({
    image: z.string().optional().meta({
      description:
        "The trainer's container image, as the job definition names it; the tag of one that the deployment built is the hash of its sources.",
    }),
  })
  .meta({
    id: "MadeEnvironment",
    description: "Environment of the run, as far as its submitter and the deployment know it.",
  });
export interface MadeEnvironment extends Shape<typeof runEnvironment> {}

export const run = z
  .object({
    runId: z.string(),
    team: z.string(),
    status: z.enum(runStatuses),
    phase: phase.optional(),
    job,
    dataset: datasetReference,
    primaryMetric: z.string().optional().meta({
      description: "Metric of the test split that suits the task; it leads lists, plots and comparisons.",
    }),
    model: z.string().optional().meta({
      description: "Registered model of which the run makes a version; absent: the run makes none.",
    }),
    code: codeReference,
    environment: runEnvironment.optional(),
    noCache: z.boolean().meta({ description: "Compute every step, without reusing outputs of earlier runs." }),
    cause: z
      .object({
        trigger: z.string(),
        type: z.enum(["dataset", "schedule", "drift", "model", "webhook", "pipeline", "manual"]),
        id: z.string(),
        at: instant,
      })
      .optional()
      .meta({ description: "Cause for which a trigger submitted it; absent if a person did." }),
    restoredFrom: z
      .object({ runId: z.string(), epoch: count, step: count, weightsSha256: sha256 })
      .optional()
      .meta({ description: "The checkpoint that training begins with." }),
    fineTunedFrom: fineTuneSource.optional(),
    reproducedFrom: z.string().optional().meta({
      description: "The run that it does again from its record; it ends behind its evaluation, and makes no version.",
    }),
    allowOtherNumerics: z.literal(true).optional(),
    trial: z
      .object({ study: z.string(), number: count })
      .optional()
      .meta({ description: "The trial of a study that it is." }),
    parentRunId: z.string().optional(),
    segment: count.optional().meta({
      description: "Number of times that it was resumed after a pause; absent before the first.",
    }),
    pauseAt: z.int().min(1).optional().meta({
      description: "Number of finished epochs after which the current segment pauses; absent: it trains to the end.",
    }),
    pausedAt: instant.optional().meta({ description: "Start of its current pause." }),
    workers: z.int().min(1).optional().meta({
      description: "Number of workers of the current segment, if the run was resumed with another one than its job's.",
    }),
    requestDigest: z.string(),
    createdBy: z.string(),
    submitters: z.array(z.string()).optional().meta({
      description: "Immutable ids of the people who submitted it, if known.",
    }),
    createdAt: instant,
    updatedAt: instant,
    queuedAt: instant.optional().meta({ description: "Start of the current wait of its job for free workers." }),
    queuedMs: count.optional().meta({ description: "Milliseconds of its jobs' earlier waits for free workers." }),
    endedAt: instant.optional(),
    failure: failure.optional(),
    outcome: outcome.optional(),
  })
  .meta({ id: "Run" });
export interface Run extends Shape<typeof run> {}

export const step = z
  .object({
    step: phase,
    inputHash: z.string(),
    output: z.unknown().meta({ description: "Small: ids, keys, digests, metrics." }),
    reusedFrom: z.string().optional().meta({ description: "The run that computed it, where this one did not." }),
    startedAt: instant,
    finishedAt: instant,
  })
  .meta({ id: "StepRecord" });
export interface StepRecord extends Shape<typeof step> {}

export const market = z.enum(["spot", "on-demand"]);

const usage = z
  .object({
    workerSeconds: z.number(),
    gpuSeconds: z.number(),
    instanceTypes: z.array(z.string()),
    workerLosses: z.int().optional().meta({ description: "Worker processes that ended before the training did." }),
    estimatedUsd: z.number().optional().meta({ description: "Absent where no worker's instance has a known price." }),
    pricesOf: z.string().optional().meta({ description: "The day of the prices that it is estimated by." }),
  })
  .meta({ id: "AttemptUsage", description: "Usage of an attempt, summed over all workers." });
export interface AttemptUsage extends Shape<typeof usage> {}

export const attempt = z
  .object({
    attempt: z.int().min(1),
    segment: count.optional().meta({ description: "Segment of the run; absent for the first." }),
    evaluation: z.string().optional().meta({
      description: "Hash of the inputs of the evaluation that the job computes; absent: the job trains.",
    }),
    market,
    placement: z.enum(["spread", "cluster"]).meta({
      description: "`cluster`: a multi-node job. `spread`: an array or a plain job, which AWS Batch also runs on spot.",
    }),
    workers: count,
    workersPerHost: z.int().min(2).optional().meta({
      description: "Number of workers of each container, which has so many GPUs; absent: 1.",
    }),
    jobId: z.string().optional(),
    status: z.enum(["submitting", "submitted", "succeeded", "failed"]),
    reason: z.string().optional(),
    startedAt: instant,
    claimedAt: instant.optional(),
    endedAt: instant.optional(),
    usage: usage.optional().meta({ description: "Once it has ended." }),
    definitions: z.object({ single: z.string(), gang: z.string() }).optional().meta({
      description: "Revisions of Batch's job definitions, `name:3`. All attempts of a run have the first one's.",
    }),
  })
  .meta({
    id: "TrainingAttempt",
    description: "One Batch job submitted for the run.",
  });
export interface TrainingAttempt extends Shape<typeof attempt> {}

const worker = z
  .object({
    workerIndex: count,
    jobId: z.string(),
    attempt: z.int().optional(),
    status: z.string(),
    startedAt: z.number().optional().meta({ description: "Milliseconds since the epoch." }),
    logStreamName: z.string().optional(),
    attempts: z.array(
      z.object({
        exitCode: z.int().optional(),
        reason: z.string().optional(),
        startedAt: z.number().optional(),
        stoppedAt: z.number().optional(),
        logStreamName: z.string().optional(),
      }),
    ),
  })
  .meta({ id: "WorkerRecord", description: "A worker's place in Batch." });
export interface WorkerRecord extends Shape<typeof worker> {}
export type WorkerAttempt = WorkerRecord["attempts"][number];

const progress = progressSchema.meta({
  id: "TrainingProgress",
});

export const machine = z
  .object({
    memberId: z.string(),
    instanceType: z.string(),
    availabilityZone: z.string().optional(),
    instanceId: z.string().optional(),
    interruptionNoticeAt: instant
      .optional()
      .meta({ description: "Time at which EC2 announced the interruption of the instance." }),
  })
  .meta({ id: "MachineRecord", description: "The machine under one process of a worker." });
export interface MachineRecord extends Shape<typeof machine> {}

const recovery = z
  .object({
    generation: count,
    step: count,
    seconds: z.number().optional().meta({ description: "Absent where no worker survived to measure it." }),
  })
  .meta({ id: "RecoveryRecord", description: "Recovery of training after the loss of a worker." });
export interface RecoveryRecord extends Shape<typeof recovery> {}

export const runDetails = z
  .object({
    run,
    steps: z.array(step),
    attempts: z.array(attempt),
    workers: z.array(worker),
    machines: z.array(machine),
    recoveries: z.array(recovery),
    warnings: z.array(warning),
    progress: progress.optional(),
  })
  .meta({ id: "RunDetails", description: "Everything known of a run." });
export interface RunDetails extends Shape<typeof runDetails> {
  /** Set if the event of the run's end was accepted while the run is still in the list of open ones. */
  readonly endPublished?: true;
}

export const checkpointSummary = z
  .object({
    finishedSteps: count,
    epoch: count.meta({ description: "Epochs that are finished." }),
    validation: z.object({ loss: z.number(), accuracy: z.number().optional() }).optional(),
    bytes: count,
    weightsSha256: sha256,
    createdAt: instant,
  })
  .meta({ id: "CheckpointSummary" });
export interface CheckpointSummary extends Shape<typeof checkpointSummary> {}

export const damagedCheckpoint = z
  .object({
    finishedSteps: count,
    key: z.string().meta({ description: "Key of the manifest in the bucket." }),
    error: z.string(),
  })
  .meta({
    id: "DamagedCheckpoint",
    description: "A checkpoint whose manifest cannot be read.",
  });
export interface DamagedCheckpoint extends Shape<typeof damagedCheckpoint> {}

export const logPage = z
  .object({ lines: z.array(z.object({ worker: count, time: z.number(), message: z.string() })), nextToken })
  .meta({ id: "LogPage", description: "Output of the workers." });
export interface LogPage extends Shape<typeof logPage> {}

export const numericsRecord = z
  .object({
    backend: z.enum(["native", "wasm"]),
    device: z.enum(["cpu", "gpu"]),
    libraries: texts,
    threads: z.object({ intraOp: z.int(), interOp: z.int() }),
    cpu: z.object({ model: z.string(), features: z.array(z.string()) }),
    gpu: z.object({ model: z.string(), driver: z.string() }).optional(),
    switches: texts,
    node: z.string(),
    platform: z.string(),
    arch: z.string(),
  })
  .meta({
    id: "NumericsRecord",
    description: "Everything outside code, data and seed that decides the weights' bits.",
  });
export interface NumericsRecord extends Shape<typeof numericsRecord> {}
export type BackendName = NumericsRecord["backend"];
export type RunCause = NonNullable<Run["cause"]>;
