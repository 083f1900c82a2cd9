import type { Logger } from "../../core/logging";
import type { Clock } from "../../core/ports";
import type { TrainingProgress } from "../../core/runs/progress";
import type { Checkpointer, CheckpointerEvents } from "../checkpoint/checkpointer";
import type { GenerationLostError } from "../collective/errors";
import { type Generation, stateSource } from "../gang/gang";
import type { StepOutcome } from "../loop/apply";
import type { LeafComputer } from "../loop/gradients";
import type { TrainingPlan } from "../loop/plan";
import { namedScore, type Score } from "../loop/score";
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

export class Reporter {
  readonly checkpointEvents: CheckpointerEvents;
  private readonly roster = new WorkerRoster();
  private readonly rate = new Rate();
  private readonly prefix: string;
  private readonly timer: NodeJS.Timeout;
  private generation: Generation | undefined;
  private step = 0;
  private loss: number | null = null;
  /** Metrics of the module that had a finite value in a step, or of which the run was warned. */
  private readonly finiteMetrics = new Set<string>();
  private earlierWaitMs = 0;
  /** A loss without a finished step since; without a time if this process replaces a lost one. */
  private lost: { readonly at?: number; readonly step: number } | undefined;
  private before: SystemReading;

  constructor(private readonly options: ReporterOptions) {
    const { telemetry, logger } = options;
    this.prefix = `system/worker-${options.workerIndex}`;
    this.before = this.read();
    this.timer = setInterval(() => this.sample(), systemEveryMs);
    this.timer.unref();
    this.checkpointEvents = {
      written: ({ finishedSteps, weightsSha256 }, blockedMs, uploadMs) => {
        telemetry.own(`${this.prefix}/checkpoint-blocked-ms`, finishedSteps, blockedMs);
        logger.log("info", "checkpoint written", { step: finishedSteps, weightsSha256, blockedMs, uploadMs });
      },
      notKept: (error, step) => {
        const message = "no room for a copy of the state: steps wait until its checkpoint is uploaded";
        logger.log("warn", message, { step, error });
      },
      failed: (error, step) => {
        logger.log("error", "checkpoint failed: it will be retried; training continues", { step, error });
      },
    };
  }

  generationStarted(started: Generation, finishedSteps: number): void {
    const { telemetry, logger, now } = this.options;
    if (this.generation === undefined && resumesAlone(started)) this.lost = { step: finishedSteps };
    this.earlierWaitMs += this.generation?.traffic.waitMs ?? 0;
    this.generation = started;
    this.step = finishedSteps;
    this.rate.start(now());
    this.roster.begin(started, finishedSteps);
    telemetry.lead(started.rank === 0);
    const { source, behind } = stateSource(started.members.map((member) => member.finishedSteps));
    if (behind.includes(0) && started.rank === source) telemetry.handOver();
    const { number, rank, worldSize } = started;
    logger.log("info", "generation started", { generation: number, rank, worldSize, step: finishedSteps });
    this.sendProgress();
  }

  generationLost({ rank, generation, message }: GenerationLostError, step: number): void {
    this.roster.loseRank(rank);
    this.lost ??= { at: this.options.now(), step };
    this.options.logger.log("warn", "generation lost", { generation, step, reason: message });
  }

  stepFinished(outcome: StepOutcome): void {
    const { plan, telemetry, logger, now, traceSteps } = this.options;
    const { step, score, skipped, skippedSteps, lossScale } = outcome;
    this.step = step;
    this.loss = score.loss;
    this.rate.add(now(), plan.batchSize);
    for (const [name, value] of Object.entries(score.metrics)) if (Number.isFinite(value)) this.finiteMetrics.add(name);
    this.reportRecovery();
    for (const [name, value] of Object.entries(namedScore("train", score))) telemetry.shared(name, step, value);
    if (lossScale !== undefined) telemetry.shared("train/loss-scale", step, lossScale);
    if (skippedSteps !== undefined) telemetry.shared("train/skipped-steps", step, skippedSteps);
    if (skipped)
      logger.log("warn", "step skipped: gradients overflowed float16; the loss scale halves", { step, lossScale });
    else telemetry.shared("train/gradient-norm", step, outcome.gradientNorm);
    telemetry.shared("train/learning-rate", step, outcome.learningRate);
    if (traceSteps) logger.log("debug", "step finished", { step, generation: this.generation?.number });
    this.sendProgress();
  }

  epochFinished(epoch: number, step: number, train: Score, validation: Score | undefined): void {
    const { telemetry, logger, warn } = this.options;
    const scores = validation === undefined ? {} : namedScore("validation", validation);
    for (const [name, value] of Object.entries(scores)) telemetry.shared(name, step, value);
    for (const name of Object.keys(train.metrics).filter((each) => !this.finiteMetrics.has(each))) {
      this.finiteMetrics.add(name);
      const message =
        `the metric '${name}' of the training module had no finite value in any step up to the end of epoch ${epoch + 1}, so its curve is ` +
        "empty: avoid a division by 0 or the log of 0 in it, e.g. by a small number that is added to the divisor";
      warn("METRIC_NOT_FINITE", message);
    }
    logger.log("info", "epoch finished", {
      epoch: epoch + 1,
      step,
      samplesPerSecond: Math.round(this.rate.samplesPerSecond),
      ...namedScore("train", train),
      ...scores,
    });
  }

  /** Records that the training is over for all workers. Idempotent. */
  completed(): void {
    this.roster.end(this.step);
    this.sendProgress();
    this.sample();
  }

  close(): void {
    clearInterval(this.timer);
    this.sample();
    this.options.gpu?.close();
  }

  private reportRecovery(): void {
    const { lost, generation } = this;
    if (lost === undefined || generation === undefined) return;
    const seconds = lost.at === undefined ? {} : { seconds: (this.options.now() - lost.at) / 1000 };
    if (reportsRecovery(generation))
      this.options.telemetry.recovered({ generation: generation.number, step: lost.step, ...seconds });
    this.lost = undefined;
  }

  private sendProgress(): void {
    const { generation, options } = this;
    if (generation !== undefined) options.telemetry.progress(() => this.progressOf(generation));
  }

  private progressOf({ number, worldSize }: Generation): TrainingProgress {
    const { plan, backend } = this.options;
    const { step } = this;
    return {
      step,
      totalSteps: plan.totalSteps,
      epoch: Math.min(plan.epochs, Math.floor(step / plan.sampler.stepsPerEpoch) + 1),
      epochs: plan.epochs,
      generation: number,
      worldSize,
      loss: this.loss,
      samplesPerSecond: this.rate.samplesPerSecond,
      backend,
      workers: this.roster.at(step),
    };
  }

  private read(): SystemReading {
    const { user, system } = process.cpuUsage();
    return {
      at: this.options.now(),
      cpuMicroseconds: user + system,
      rssBytes: process.memoryUsage.rss(),
      finishedSteps: this.step,
      samplesPerSecond: this.rate.samplesPerSecond,
      dataWaitMs: this.options.leaves.dataWaitMs(),
      communicationMs: this.earlierWaitMs + (this.generation?.traffic.waitMs ?? 0),
    };
  }

  private sample(): void {
    const { telemetry } = this.options;
    const { step, prefix } = this;
    if (step === this.before.finishedSteps) return; // the step identifies a point: a second one would replace the first
    const after = this.read();
    for (const [name, value] of Object.entries(systemMetrics(this.before, after)))
      telemetry.own(`${prefix}/${name}`, step, value);
    this.before = after;
    const gpu = this.options.gpu?.read();
    if (gpu === undefined) return;
    telemetry.own(`${prefix}/gpu-utilization`, step, gpu.utilization);
    telemetry.own(`${prefix}/gpu-memory`, step, gpu.memoryBytes);
  }
}

/** Number of survivors that report the same recovery; the store keeps one. */
const recoveryReporters = 4;

/** One of the first ranks that can know of the loss; rank 0 may be the replacement. Several may report. */
function reportsRecovery({ rank, members }: Pick<Generation, "rank" | "members">): boolean {
  const finished = members[rank]?.finishedSteps ?? 0;
  return members.slice(0, rank).filter(({ finishedSteps }) => finishedSteps >= finished).length < recoveryReporters;
}

/** Whether a process that begins in this generation continues a training without survivors. True for one rank only. */
function resumesAlone({ number, rank, members }: Pick<Generation, "number" | "rank" | "members">): boolean {
  if (number === 1 || rank !== 0) return false;
  const [first, ...others] = members.map(({ finishedSteps }) => finishedSteps);
  return others.length === 0 || (first! > 0 && others.every((steps) => steps === first));
}

/** Returns the loop's events: they are reported, and checkpoints are taken at boundaries. */
export function eventsOf(reporter: Reporter, checkpointer: Checkpointer, { sampler }: TrainingPlan): TrainingEvents {
  return {
    generationStarted(generation, finishedSteps) {
      checkpointer.setLeader(generation.members[0]!.memberId);
      reporter.generationStarted(generation, finishedSteps);
    },
    generationLost: (error, finishedSteps) => reporter.generationLost(error, finishedSteps),
    stepFinished: (outcome) => reporter.stepFinished(outcome),
    epochFinished: (...epoch) => reporter.epochFinished(...epoch),
    boundary(replica, { rank }, validation) {
      const role = rank === 0 ? "leader" : rank === 1 && isWhole(replica) ? "standby" : "none";
      const epochs = Math.floor(replica.finishedSteps / sampler.stepsPerEpoch);
      checkpointer.boundary(replica, role, epochs, validation);
    },
  };
}
