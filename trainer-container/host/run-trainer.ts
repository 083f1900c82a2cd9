import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { isoTime } from "../../core/ports";
import { type TrainingFailure, type TrainingTask, trainerExitCodes, trainingTask } from "../../core/runs/training-task";
import { Checkpointer } from "../checkpoint/checkpointer";
import { SnapshotSpace } from "../checkpoint/snapshot";
import { uploadHere } from "../checkpoint/upload-protocol";
import { type Gang, GangMemberReplacedError, GangRunEndedError } from "../gang/gang";
import { createLeafComputer } from "../loop/gradients";
import { train } from "../loop/train";
import { GpuSampler } from "../telemetry/gpu-sampler";
import { createEntrance, type TrainerDependencies } from "./dependencies";
import { endByError, endTraining } from "./endings";
import { classifyError } from "./failure";
import { mapStacks } from "./module-source";
import { prepareTraining } from "./prepare-training";
import { eventsOf, Reporter } from "./report";
import { restoreReplica } from "./restore-replica";
import { findPause, findResult } from "./result";

/** Maximum wait at the end for remaining metrics. */
const telemetryPatienceMs = 10_000;

/** Runs one worker, from the task to the process's exit code. */
export async function runTrainer(dependencies: TrainerDependencies): Promise<number> {
  const { config, store, clock, logger, telemetry, interruption } = dependencies;
  let gang: Gang | undefined;
  let hasEnded = false;
  try {
    const { runId, segment } = config;
    const ended = (await findResult(store, runId)) ?? (await findPause(store, runId, segment));
    if (ended !== undefined) {
      logger.log("info", "pausedAt" in ended ? "training is paused already" : "training is complete already");
      return trainerExitCodes.completed;
    }
    const task = await getJson(store, objectKeys.trainingTask(runId, segment), trainingTask);
    const createGang = () => {
      gang = dependencies.createGang(task);
      return gang;
    };
    const train = task.model.type === "container" ? dependencies.trainContainer : trainTask;
    const training = train(dependencies, task, createGang);
    return await Promise.race([training, ...(dependencies.uncaught ? [dependencies.uncaught] : [])]);
  } catch (error) {
    hasEnded = error instanceof GangRunEndedError;
    if (hasEnded || error instanceof GangMemberReplacedError) {
      logger.log("warn", (error as Error).message);
      return trainerExitCodes.retry;
    }
    const consequence = classifyError(error);
    mapStacks(error);
    logger.log("error", `training ended: ${consequence.message}`, { error });
    if (consequence.kind === "try-again") return trainerExitCodes.retry;
    const { code, message, step, retryable } = consequence;
    const failure: TrainingFailure = {
      runId: config.runId,
      code,
      message,
      ...(step === undefined ? {} : { step }),
      retryable,
      failedAt: isoTime(clock),
    };
    await store.put(
      objectKeys.trainingFailure(config.runId, config.jobId),
      JSON.stringify(failure, null, 2),
      "application/json",
    );
    return trainerExitCodes.failed;
  } finally {
    // The stores refuse an ended run, so that leaving and sending would be retried until the host ends this process.
    hasEnded ||= interruption.raised && (await dependencies.hasEnded?.()) === true;
    // `leave` is idempotent. This call is for exits without another one.
    if (!hasEnded) await gang?.leave("failed").catch(() => undefined);
    await telemetry.close(hasEnded ? 0 : telemetryPatienceMs);
  }
}

async function trainTask(
  dependencies: TrainerDependencies,
  task: TrainingTask,
  createGang: () => Gang,
): Promise<number> {
  const { config, store, clock, now, logger, telemetry, interruption } = dependencies;
  const prepared = await prepareTraining(dependencies, task);
  const { plan, model, layout, feed, validation, test, backend, numerics } = prepared;
  const state = await restoreReplica(dependencies, task, prepared);
  const { replica, sharded, identity, restored, otherNumerics } = state;
  logger.log("info", "ready", {
    backend,
    parameters: model.parameterCount,
    rows: prepared.rows,
    feed: prepared.feedKind,
    totalSteps: plan.totalSteps,
    restoredStep: restored?.finishedSteps ?? 0,
  });

  const leaves = createLeafComputer({ model, plan, layout, feed, now });
  // The engine has set this to its device.
  const device = task.gpusPerWorker > 0 ? process.env.CUDA_VISIBLE_DEVICES : undefined;
  const reporter = new Reporter({
    plan,
    workerIndex: config.workerIndex,
    traceSteps: config.traceSteps,
    backend,
    telemetry,
    logger,
    warn: prepared.warn,
    clock,
    now,
    leaves,
    ...(device === undefined ? {} : { gpu: new GpuSampler(device) }),
  });
  const checkpointer = new Checkpointer({
    store,
    clock,
    runId: task.runId,
    layout: model.layout,
    identity,
    numerics,
    otherNumerics,
    rule: {
      ...task.checkpoint,
      stepsPerEpoch: plan.sampler.stepsPerEpoch,
      lastStep: plan.lastStep,
      everyEpoch: plan.earlyStopping !== undefined,
    },
    restored,
    events: reporter.checkpointEvents,
    now,
    unsentMetrics: (finishedSteps) => telemetry.unsent(finishedSteps),
    space: new SnapshotSpace(path.join(config.cacheDirectory, "state")),
    upload: dependencies.upload ?? uploadHere(store),
    sleep,
  });
  const gang = createGang();
  const training = { dependencies, prepared, state, checkpointer, reporter, gang };
  try {
    const cpuBefore = process.cpuUsage();
    const end = await train({
      plan,
      model,
      replica,
      layout,
      leaves,
      validation,
      test,
      events: eventsOf(reporter, checkpointer, plan),
      enter: createEntrance(gang, interruption),
      leaving: () => interruption.raised,
      writable: () => checkpointer.writable(),
      ...(sharded && {
        sharding: {
          replica: sharded,
          sleep,
          checkpointDue: (step) => checkpointer.due(step),
          async restore() {
            const again = await state.restore();
            checkpointer.rewind(again);
            const message = "both holders of a part of the optimizer's state were lost: back to the newest checkpoint";
            logger.log("warn", message, { step: again?.finishedSteps ?? 0 });
          },
        },
      }),
    });
    const { user, system } = process.cpuUsage(cpuBefore);
    return await endTraining(training, end, (user + system) / 1_000_000);
  } catch (error) {
    return await endByError(training, error);
  } finally {
    checkpointer.close();
    reporter.close();
    await feed.close();
    model.dispose();
  }
}
