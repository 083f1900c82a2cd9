import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FeatureManifest } from "../../core/features/shapes";
import type { Logger } from "../../core/logging";
import { getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import { type TrainingFailure, type TrainingTask, trainerExitCodes } from "../../core/runs/training-task";
import type { Warning } from "../../core/shapes";
import type { TrainerConfig } from "../../platform/config";
import { createCheckpointer } from "../checkpoint/checkpointer";
import { otherNumericsOf, restoreNewest } from "../checkpoint/restore";
import { SnapshotSpace } from "../checkpoint/snapshot";
import { identityOf } from "../checkpoint/state";
import { type StateUploader, uploadHere } from "../checkpoint/upload-protocol";
import { openFeed, openValidation } from "../data/open-feed";
import { windowedShards } from "../data/row-order";
import { createShardCache } from "../data/shard-cache";
import type { Engine, EngineOptions } from "../engine/engine";
import { type Gang, GangMemberReplacedError, GangRunEndedError } from "../gang/gang";
import { requireStoppingMetric } from "../loop/best-epoch";
import { createLeafComputer } from "../loop/gradients";
import { planTraining } from "../loop/plan";
import { createReplica } from "../loop/replica";
import { scoreLayout } from "../loop/score";
import { isWhole, ShardedReplica } from "../loop/sharded-replica";
import { train } from "../loop/train";
import { GpuSampler } from "../telemetry/gpu-sampler";
import { unpackPoints } from "../telemetry/packed-points";
import type { Telemetry } from "../telemetry/telemetry";
import { within } from "../telemetry/within";
import { createEntrance, InterruptedWhileWaitingError } from "./enter-gang";
import { executionReport } from "./executions";
import { classifyError, failedBeforeUpdate } from "./failure";
import { loadInitialWeights } from "./initial-weights";
import type { Interruption } from "./interruption";
import { mapStacks } from "./module-source";
import { agreeOnNumerics, engineOptionsOf, modelDefinition } from "./prepare";
import { createReporter, withCheckpoints } from "./report";
import { findPause, findResult, publishPause, publishResult } from "./result";
import { retry } from "./retry";

export interface TrainerDependencies {
  readonly config: TrainerConfig;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly interruption: Interruption;
  /** Sends checkpoints' copies. Default: on this thread. */
  readonly upload?: StateUploader;
  readonly createEngine: (options: EngineOptions) => Promise<Engine>;
  readonly createGang: (task: TrainingTask) => Gang;
  /** Tests whether the run has ended, as after a cancellation. Nothing of it is stored then. Default: it has not. */
  readonly hasEnded?: () => Promise<boolean>;
  /** Rejects on an uncaught exception, or on a loop of user code without an end. */
  readonly uncaught?: Promise<never>;
  /** Called before a user's module is loaded. */
  readonly watchLoops?: () => void;
}

/** Rows of a validation block. The bits of validation scores depend on it, as on the microshard's shape. */
const validationRows = 512;
/** Maximum wait for an unavailable store of the gang before the last state is stored. The others find the loss themselves. */
const leavePatienceMs = 2_000;
/** Maximum wait at the end for remaining metrics. */
const telemetryPatienceMs = 10_000;
/** Maximum wait for remaining metrics before the result becomes visible. */
const settlePatienceMs = 5_000;

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
    const task = await getJson<TrainingTask>(store, objectKeys.trainingTask(runId, segment));
    const training = trainTask(dependencies, task, () => {
      gang = dependencies.createGang(task);
      return gang;
    });
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
  const { runId } = task;

  // Data and model.
  const features = await getJson<FeatureManifest>(store, task.featureManifestKey);
  const { rows, shards } = features.splits.train;
  const shardRows = windowedShards(shards);
  const plan = planTraining(task, rows, shardRows);
  const { cacheDirectory: directory, cacheLimitBytes: limitBytes } = config;
  const cache = createShardCache({ store, directory, limitBytes });
  const { seed, microshards, batchSize } = plan;
  const executions = executionReport(logger);
  const engine = await dependencies.createEngine({
    ...engineOptionsOf(task),
    onFallback: (reason) =>
      dependencies.logger.log("info", "no native TensorFlow: computing on WebAssembly", { reason: reason.message }),
    onExecution: executions.onExecution,
    onChangingModel: executions.onChangingModel,
  });
  if (task.hyperparameters.precision === "tf32" && task.gpusPerWorker === 0)
    logger.log("info", "precision tf32: computing in float32, because only GPUs have TF32");
  const numerics = engine.numerics();
  const unlikeOthers = await agreeOnNumerics(store, task, numerics);
  if (task.model.type === "module") dependencies.watchLoops?.();
  const definition = await modelDefinition(task, features, store);
  const model = await engine.createModel(definition, task.seed);
  const fineTune = await loadInitialWeights(model, task, store);
  if (fineTune) logger.log("info", "begins with other weights", { from: task.fineTune?.from, ...fineTune });
  const sampling = { seed, rows, batchSize, microshards, shardRows };
  const { feed, kind } = await openFeed(features, sampling, cache, { takesSparse: model.takesSparse === true });
  const validation = await openValidation(features, cache, validationRows);

  // This worker's replica, from the newest checkpoint if there is one.
  const layout = scoreLayout(definition.type === "module" ? Object.keys(definition.metrics ?? {}) : []);
  requireStoppingMetric(plan.earlyStopping, layout, validation, features.label.kind === "class");
  const sharded = task.shardOptimizer ? new ShardedReplica(model, plan, layout) : undefined;
  const replica = sharded ?? createReplica(model, plan, layout);
  const identity = identityOf(plan, model);
  const unusable = new Map<string, string>();
  const restore = async () => {
    const manifest = await restoreNewest(replica, {
      store,
      runId,
      layout: model.layout,
      identity,
      numerics,
      allowOtherNumerics: task.allowOtherNumerics === true,
      startStep: task.startStep,
      onUnusable: (key, error) => {
        logger.log("error", "a checkpoint cannot be used; trying the previous one", { key, error });
        unusable.set(key, error instanceof Error ? error.message : String(error));
      },
    });
    const unsent = manifest?.unsentMetrics;
    if (unsent?.runId === runId) telemetry.resume(unpackPoints(unsent.series));
    return manifest;
  };
  const restored = await restore();
  const otherNumerics = [...new Set([...otherNumericsOf(restored, numerics), ...unlikeOthers])].sort();
  if (otherNumerics.length > 0)
    logger.log("warn", "continuing with other numerics, as the task allows", { otherNumerics });
  logger.log("info", "ready", {
    backend: engine.backend,
    parameters: model.parameterCount,
    rows,
    feed: kind,
    totalSteps: plan.totalSteps,
    restoredStep: restored?.finishedSteps ?? 0,
  });

  // The training loop.
  const leaves = createLeafComputer({ model, plan, layout, feed, now });
  const { workerIndex, traceSteps } = config;
  const { backend } = engine;
  // The engine has set this to its device.
  const device = task.gpusPerWorker > 0 ? process.env.CUDA_VISIBLE_DEVICES : undefined;
  const reporter = createReporter({
    plan,
    workerIndex,
    traceSteps,
    backend,
    telemetry,
    logger,
    clock,
    now,
    leaves,
    ...(device === undefined ? {} : { gpu: new GpuSampler(device) }),
  });
  const checkpointer = createCheckpointer({
    store,
    clock,
    runId,
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
    space: new SnapshotSpace(path.join(directory, "state")),
    upload: dependencies.upload ?? uploadHere(store),
    sleep,
  });
  const epochsFinished = () => Math.floor(replica.finishedSteps / plan.sampler.stepsPerEpoch);
  const gang = createGang();
  try {
    const cpuBefore = process.cpuUsage();
    const end = await train({
      plan,
      model,
      replica,
      layout,
      leaves,
      validation,
      events: withCheckpoints(reporter.events, checkpointer, plan),
      enter: createEntrance(gang, interruption),
      leaving: () => interruption.raised,
      writable: () => checkpointer.writable(),
      ...(sharded && {
        sharding: {
          replica: sharded,
          sleep,
          checkpointDue: (step) => checkpointer.due(step),
          async restore() {
            const again = await restore();
            checkpointer.rewind(again);
            const message = "both holders of a part of the optimizer's state were lost: back to the newest checkpoint";
            logger.log("warn", message, { step: again?.finishedSteps ?? 0 });
          },
        },
      }),
    });

    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuSeconds = (user + system) / 1_000_000;

    if (end.end === "interrupted") {
      // First, so that no member waits for this worker while it uploads.
      await within(leavePatienceMs, gang.leave("interrupted"));
      if (end.rank > 0) await checkpointer.idle();
      else if (isWhole(replica)) await checkpointer.finish(replica, epochsFinished());
      else await checkpointer.flush("once");
      logger.log("info", "left: the host is about to go away", {
        step: replica.finishedSteps,
        reason: interruption.reason,
      });
      return trainerExitCodes.retry;
    }
    // A rank that stores the end may have outlived the leader, so it sends the leader's unsent points again.
    const beforeVisible = async () => {
      telemetry.lead(true);
      await checkpointer.flush();
      // The last batch has the points of the checkpoints and the final progress.
      reporter.completed();
      await telemetry.settled(settlePatienceMs);
    };
    const storeAgain = (error: unknown) => logger.log("warn", "the result cannot be stored yet", { error });
    if (end.end === "paused") {
      const { finishedSteps } = replica;
      const withCheckpoint = async () => {
        await beforeVisible();
        if (isWhole(replica)) await checkpointer.finish(replica, epochsFinished());
      };
      const publish = () =>
        publishPause(
          { store, clock, runId, segment: config.segment, end, beforeVisible: withCheckpoint },
          { finishedSteps, epoch: epochsFinished() },
        );
      // A rank without the whole state cannot store the checkpoint. It starts again and trains the lost steps.
      const pause = isWhole(replica) ? await retry(publish, storeAgain, interruption) : await publish();
      const { epoch, weightsSha256 } = pause;
      logger.log("info", "paused", { epoch, step: finishedSteps, weightsSha256, cpuSeconds });
    }
    if (end.end === "completed") {
      const { weights } = end.best ?? replica;
      const warnings = [...executions.warnings, ...damagedCheckpoints(unusable)];
      const published = { store, clock, runId, model, weights, plan, numerics, otherNumerics, warnings, fineTune, end };
      const result = await retry(() => publishResult({ ...published, beforeVisible }), storeAgain, interruption);
      const { weightsSha256, steps, metrics, earlyStopping } = result;
      logger.log("info", "completed", { weightsSha256, steps, metrics, earlyStopping, cpuSeconds });
    }
    await gang.leave("completed");
    await checkpointer.idle();
    return trainerExitCodes.completed;
  } catch (error) {
    // Stores the state of the last finished step: it may be the only copy, or training stops here.
    const isLast = error instanceof InterruptedWhileWaitingError || failedBeforeUpdate(error);
    if (isLast && isWhole(replica)) await checkpointer.finish(replica, epochsFinished());
    else await checkpointer.flush("once");
    if (!(error instanceof InterruptedWhileWaitingError)) throw error;
    logger.log("info", error.message, { step: replica.finishedSteps });
    return trainerExitCodes.retry;
  } finally {
    checkpointer.close();
    reporter.close();
    await feed.close();
    model.dispose();
  }
}

/** @param unusable manifest keys of checkpoints, each with the reason */
function damagedCheckpoints(unusable: ReadonlyMap<string, string>): readonly Warning[] {
  if (unusable.size === 0) return [];
  const list = [...unusable].map(([key, error]) => `${key}: ${error}`).join("; ");
  const message = `training continued from an earlier checkpoint, because newer ones could not be used: ${list}`;
  return [{ code: "CHECKPOINT_DAMAGED", message }];
}
