import type { Logger } from "../../core/logging";
import type { Clock } from "../../core/ports";
import type { TrainingProgress } from "../../core/runs/progress";
import type { Checkpointer, CheckpointerEvents } from "../checkpoint/checkpointer";
import { type Generation, stateSource } from "../gang/gang";
import type { LeafComputer } from "../loop/gradients";
import type { TrainingPlan } from "../loop/plan";
import { namedScore } from "../loop/score";
import { isWhole } from "../loop/sharded-replica";
import type { TrainingEvents } from "../loop/training";
import type { GpuSampler } from "../telemetry/gpu-sampler";
import { Rate, type SystemReading, systemMetrics, WorkerRoster } from "../telemetry/progress";
import type { Telemetry } from "../telemetry/telemetry";
import type { Warn } from "./load-module";

const systemEveryMs = 30_000;

export interface ReporterOptions {
  readonly plan: TrainingPlan;
  readonly workerIndex: number;
  readonly traceSteps: boolean;
  readonly backend: "native" | "wasm";
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly warn: Warn;
  readonly clock: Clock;
  readonly now: () => number;
  readonly leaves: LeafComputer;
  /** The device that this worker computes on; absent on a CPU. */
  readonly gpu?: Pick<GpuSampler, "read" | "close">;
}

export type Reporter = ReturnType<typeof createReporter>;

/** Publishes the training: metric points, progress, log lines. */
export function createReporter(options: ReporterOptions) {
  const { plan, telemetry, logger, now, leaves } = options;
  const roster = new WorkerRoster();
  const rate = new Rate();
  let generation: Generation | undefined;
  let progress: (() => TrainingProgress) | undefined;
  let step = 0;
  let loss: number | null = null;
  /** Metrics of the module that had a finite value in a step, or of which the run was warned. */
  const knownMetrics = new Set<string>();
  let earlierWaitMs = 0;
  /** A loss without a finished step since; without a time if this process replaces a lost one. */
  let lost: { readonly at?: number; readonly step: number } | undefined;

  const read = (): SystemReading => {
    const { user, system } = process.cpuUsage();
    return {
      at: now(),
      cpuMicroseconds: user + system,
      rssBytes: process.memoryUsage.rss(),
      finishedSteps: step,
      samplesPerSecond: rate.samplesPerSecond,
      dataWaitMs: leaves.dataWaitMs(),
      communicationMs: earlierWaitMs + (generation?.traffic.waitMs ?? 0),
    };
  };
  let before = read();
  const prefix = `system/worker-${options.workerIndex}`;
  const sample = () => {
    if (step === before.finishedSteps) return; // the step identifies a point: a second one would replace the first
    const after = read();
    for (const [name, value] of Object.entries(systemMetrics(before, after))) {
      telemetry.own(`${prefix}/${name}`, step, value);
    }
    before = after;
    const gpu = options.gpu?.read();
    if (gpu === undefined) return;
    telemetry.own(`${prefix}/gpu-utilization`, step, gpu.utilization);
    telemetry.own(`${prefix}/gpu-memory`, step, gpu.memoryBytes);
  };
  const timer = setInterval(sample, systemEveryMs);
  timer.unref();

  const progressOf = (current: Generation) => () => ({
    step,
    totalSteps: plan.totalSteps,
    epoch: Math.min(plan.epochs, Math.floor(step / plan.sampler.stepsPerEpoch) + 1),
    epochs: plan.epochs,
    generation: current.number,
    worldSize: current.worldSize,
    loss,
    samplesPerSecond: rate.samplesPerSecond,
    backend: options.backend,
    workers: roster.at(step),
  });
  const sendProgress = () => {
    if (progress !== undefined) telemetry.progress(progress);
  };

  const events: Omit<TrainingEvents, "boundary"> = {
    generationStarted(started, finishedSteps) {
      if (generation === undefined && resumesAlone(started)) lost = { step: finishedSteps };
      earlierWaitMs += generation?.traffic.waitMs ?? 0;
      generation = started;
      progress = progressOf(started);
      step = finishedSteps;
      rate.start(now());
      roster.begin(started, finishedSteps);
      telemetry.lead(started.rank === 0);
      const { source, behind } = stateSource(started.members.map((member) => member.finishedSteps));
      if (behind.includes(0) && started.rank === source) telemetry.handOver();
      const { number, rank, worldSize } = started;
      logger.log("info", "generation started", { generation: number, rank, worldSize, step });
      sendProgress();
    },
    generationLost(error, finishedSteps) {
      roster.loseRank(error.rank);
      lost ??= { at: now(), step: finishedSteps };
      logger.log("warn", "generation lost", {
        generation: error.generation,
        step: finishedSteps,
        reason: error.message,
      });
    },
    stepFinished(outcome) {
      step = outcome.step;
      loss = outcome.score.loss;
      rate.add(now(), plan.batchSize);
      for (const [name, value] of Object.entries(outcome.score.metrics))
        if (Number.isFinite(value)) knownMetrics.add(name);
      if (lost !== undefined && generation !== undefined) {
        const seconds = lost.at === undefined ? {} : { seconds: (now() - lost.at) / 1000 };
        if (reportsRecovery(generation))
          telemetry.recovered({ generation: generation.number, step: lost.step, ...seconds });
        lost = undefined;
      }
      for (const [name, value] of Object.entries(namedScore("train", outcome.score)))
        telemetry.shared(name, step, value);
      const { skipped, skippedSteps, lossScale } = outcome;
      if (lossScale !== undefined) telemetry.shared("train/loss-scale", step, lossScale);
      if (skippedSteps !== undefined) telemetry.shared("train/skipped-steps", step, skippedSteps);
      if (skipped)
        logger.log("warn", "step skipped: gradients overflowed float16; the loss scale halves", { step, lossScale });
      else telemetry.shared("train/gradient-norm", step, outcome.gradientNorm);
      telemetry.shared("train/learning-rate", step, outcome.learningRate);
      if (options.traceSteps) logger.log("debug", "step finished", { step, generation: generation?.number });
      sendProgress();
    },
    epochFinished(epoch, at, train, validation) {
      const scores = validation === undefined ? {} : namedScore("validation", validation);
      for (const [name, value] of Object.entries(scores)) telemetry.shared(name, at, value);
      for (const name of Object.keys(train.metrics).filter((each) => !knownMetrics.has(each))) {
        knownMetrics.add(name);
        const message =
          `the metric '${name}' of the training module had no finite value in any step up to the end of epoch ${epoch + 1}, so its curve is ` +
          "empty: avoid a division by 0 or the log of 0 in it, e.g. by a small number that is added to the divisor";
        options.warn("METRIC_NOT_FINITE", message);
      }
      logger.log("info", "epoch finished", {
        epoch: epoch + 1,
        step: at,
        samplesPerSecond: Math.round(rate.samplesPerSecond),
        ...namedScore("train", train),
        ...scores,
      });
    },
  };

  const checkpointEvents: CheckpointerEvents = {
    written(manifest, blockedMs, uploadMs) {
      const { finishedSteps, weightsSha256 } = manifest;
      telemetry.own(`${prefix}/checkpoint-blocked-ms`, finishedSteps, blockedMs);
      logger.log("info", "checkpoint written", { step: finishedSteps, weightsSha256, blockedMs, uploadMs });
    },
    notKept(error, finishedSteps) {
      const message = "no room for a copy of the state: steps wait until its checkpoint is uploaded";
      logger.log("warn", message, { step: finishedSteps, error });
    },
    failed(error, finishedSteps) {
      logger.log("error", "checkpoint failed: it will be retried; training continues", { step: finishedSteps, error });
    },
  };

  return {
    events,
    checkpointEvents,
    /** Records that the training is over for all workers. Idempotent. */
    completed(): void {
      roster.end(step);
      sendProgress();
      sample();
    },
    close(): void {
      clearInterval(timer);
      sample();
      options.gpu?.close();
    },
  };
}

/** Number of survivors that report the same recovery; the store keeps one. */
const recoveryReporters = 4;

/**
 * Whether this rank is one of the first that can know of the loss. Rank 0 alone is not enough: it may be the process that
 * replaces the lost one. Restored ranks may be as advanced as survivors, so several report.
 */
function reportsRecovery({ rank, members }: Pick<Generation, "rank" | "members">): boolean {
  const own = members[rank]?.finishedSteps ?? 0;
  return members.slice(0, rank).filter(({ finishedSteps }) => finishedSteps >= own).length < recoveryReporters;
}

/** Whether a process that begins in this generation continues a training without survivors. True for one rank only. */
function resumesAlone({ number, rank, members }: Pick<Generation, "number" | "rank" | "members">): boolean {
  if (number === 1 || rank !== 0) return false;
  const [first, ...others] = members.map(({ finishedSteps }) => finishedSteps);
  return others.length === 0 || (first! > 0 && others.every((steps) => steps === first));
}

/** Adds checkpoints at boundaries to the loop's events. */
export function withCheckpoints(
  events: Omit<TrainingEvents, "boundary">,
  checkpointer: Checkpointer,
  { sampler }: TrainingPlan,
): TrainingEvents {
  return {
    ...events,
    generationStarted(generation, finishedSteps) {
      checkpointer.setLeader(generation.members[0]!.memberId);
      events.generationStarted(generation, finishedSteps);
    },
    boundary(replica, { rank }, validation) {
      const role = rank === 0 ? "leader" : rank === 1 && isWhole(replica) ? "standby" : "none";
      const epochs = Math.floor(replica.finishedSteps / sampler.stepsPerEpoch);
      checkpointer.boundary(replica, role, epochs, validation);
    },
  };
}
