import { trainerExitCodes } from "../../core/runs/training-task";
import type { Checkpointer } from "../checkpoint/checkpointer";
import type { Gang } from "../gang/gang";
import { isWhole } from "../loop/sharded-replica";
import type { TrainingEnd } from "../loop/train";
import { within } from "../telemetry/within";
import { InterruptedWhileWaitingError, type TrainerDependencies } from "./dependencies";
import { failedBeforeUpdate, retry } from "./failure";
import type { PreparedTraining } from "./prepare-training";
import type { Reporter } from "./report";
import type { RestoredReplica } from "./restore-replica";
import { type LastStep, publishPause, publishResult } from "./result";

interface RunningTraining {
  readonly dependencies: TrainerDependencies;
  readonly prepared: PreparedTraining;
  readonly state: RestoredReplica;
  readonly checkpointer: Checkpointer;
  readonly reporter: Reporter;
  readonly gang: Gang;
}

/** Maximum wait for an unavailable store of the gang before the last state is stored. The others find the loss themselves. */
const leavePatienceMs = 2_000;
/** Maximum wait for remaining metrics before the result becomes visible. */
const settlePatienceMs = 5_000;

/** @param cpuSeconds of the training loop @returns the process's exit code */
export async function endTraining(training: RunningTraining, end: TrainingEnd, cpuSeconds: number): Promise<number> {
  const { checkpointer, gang } = training;
  if (end.end === "interrupted") return leaveEarly(training, end.rank);
  if (end.end === "paused") await storePause(training, end, cpuSeconds);
  if (end.end === "completed") await storeResult(training, end, cpuSeconds);
  await gang.leave("completed");
  await checkpointer.idle();
  return trainerExitCodes.completed;
}

async function leaveEarly(training: RunningTraining, rank: number): Promise<number> {
  const { dependencies, state, checkpointer, gang } = training;
  const { logger, interruption } = dependencies;
  const { replica } = state;
  // First, so that no member waits for this worker while it uploads.
  await within(leavePatienceMs, gang.leave("interrupted"));
  if (rank > 0) await checkpointer.idle();
  else await storeState(training);
  const { reason } = interruption;
  logger.log("info", "left: the host is about to go away", { step: replica.finishedSteps, reason });
  return trainerExitCodes.retry;
}

async function storePause(training: RunningTraining, end: LastStep, cpuSeconds: number): Promise<void> {
  const { dependencies, state, checkpointer } = training;
  const { config, store, clock, logger, interruption } = dependencies;
  const { runId, segment } = config;
  const { replica } = state;
  const { finishedSteps } = replica;
  const epoch = epochsFinished(training);
  const beforeVisible = async () => {
    await sendMetrics(training);
    if (isWhole(replica)) await checkpointer.finish(replica, epoch);
  };
  const publish = () => publishPause({ store, clock, runId, segment, end, beforeVisible }, { finishedSteps, epoch });
  // A rank without the whole state cannot store the checkpoint. It starts again and trains the lost steps.
  const pause = isWhole(replica) ? await retry(publish, storedLater(training), interruption) : await publish();
  const { weightsSha256 } = pause;
  logger.log("info", "paused", { epoch: pause.epoch, step: finishedSteps, weightsSha256, cpuSeconds });
}

async function storeResult(training: RunningTraining, end: LastStep, cpuSeconds: number): Promise<void> {
  const { dependencies, prepared, state } = training;
  const { config, store, clock, logger, interruption } = dependencies;
  const { model, plan, numerics, fineTune } = prepared;
  const publish = () =>
    publishResult({
      store,
      clock,
      runId: config.runId,
      model,
      weights: (end.best ?? state.replica).weights,
      plan,
      numerics,
      otherNumerics: state.otherNumerics,
      warnings: [...prepared.warnings, ...state.warnings()],
      fineTune,
      end,
      beforeVisible: () => sendMetrics(training),
    });
  const result = await retry(publish, storedLater(training), interruption);
  const { weightsSha256, steps, metrics, earlyStopping } = result;
  logger.log("info", "completed", { weightsSha256, steps, metrics, earlyStopping, cpuSeconds });
}

/**
 * Stores the last finished step's state after an error: it may be the only copy.
 * @returns the process's exit code
 * @throws the error, unless the host's end interrupted a wait
 */
export async function endByError(training: RunningTraining, error: unknown): Promise<number> {
  const { dependencies, state, checkpointer } = training;
  const isLast = error instanceof InterruptedWhileWaitingError || failedBeforeUpdate(error);
  if (isLast) await storeState(training);
  else await checkpointer.flush("once");
  if (!(error instanceof InterruptedWhileWaitingError)) throw error;
  dependencies.logger.log("info", error.message, { step: state.replica.finishedSteps });
  return trainerExitCodes.retry;
}

/** Stores the whole state, or sends the pending checkpoints if this rank has a part of it. */
async function storeState(training: RunningTraining): Promise<void> {
  const { replica } = training.state;
  if (isWhole(replica)) await training.checkpointer.finish(replica, epochsFinished(training));
  else await training.checkpointer.flush("once");
}

/** Sends all metrics before the end becomes visible, also those that a lost leader may not have sent. */
async function sendMetrics({ dependencies, checkpointer, reporter }: RunningTraining): Promise<void> {
  const { telemetry } = dependencies;
  telemetry.lead(true);
  await checkpointer.flush();
  // The last batch has the points of the checkpoints and the final progress.
  reporter.completed();
  await telemetry.settled(settlePatienceMs);
}

const storedLater =
  ({ dependencies }: RunningTraining) =>
  (error: unknown): void =>
    dependencies.logger.log("warn", "the result cannot be stored yet", { error });

const epochsFinished = ({ prepared, state }: RunningTraining): number =>
  Math.floor(state.replica.finishedSteps / prepared.plan.sampler.stepsPerEpoch);
