import { featureManifest } from "../../core/features/shapes";
import type { Logger } from "../../core/logging";
import { getJson } from "../../core/object-documents";
import type { TrainingTask } from "../../core/runs/training-task";
import type { Warning } from "../../core/shapes";
import { openFeed, openSplit } from "../data/open-feed";
import { windowedShards } from "../data/row-order";
import { createShardCache } from "../data/shard-cache";
import type { EngineOptions } from "../engine/engine";
import { requireStoppingMetric } from "../loop/best-epoch";
import { planTraining } from "../loop/plan";
import { scoreLayout } from "../loop/score";
import type { TrainerDependencies } from "./dependencies";
import { loadInitialWeights } from "./initial-weights";
import { userFrame } from "./module-source";
import { agreeOnNumerics, engineOptionsOf, modelDefinition } from "./prepare";

/** Reports how the engine computes the model's passes, and what users should change: in the log, and as warnings of the run. */
export function executionReport(logger: Logger) {
  const warnings: Warning[] = [];
  const warn = (code: string, message: string): void => {
    logger.log("warn", message);
    warnings.push({ code, message });
  };
  const onExecution: NonNullable<EngineOptions["onExecution"]> = (execution) => {
    if (execution.engine === "graph") {
      const { pass, operations, rematerialised, ms } = execution;
      const again = rematerialised === undefined ? {} : { rematerialisedSegments: rematerialised };
      logger.log("info", `computing ${pass} as one graph`, { operations, ms: Math.round(ms), ...again });
      if (rematerialised === 0) logger.log("warn", "rematerialise has no effect: the gradient would have other bits");
      return;
    }
    const { pass, reason, declined } = execution;
    const place = userFrame(reason);
    logger.log("warn", `computing ${pass} operation by operation, which is slower`, {
      reason: `the model cannot be a graph: ${reason.message}`,
      ...(place === undefined ? {} : { place }),
    });
    if (pass !== "gradients" || declined) return;
    const at = place === undefined ? "" : ` (at ${place})`;
    const message = `gradients were computed operation by operation, which is slower, because the model cannot be a graph: ${reason.message}${at}`;
    warnings.push({ code: "MODEL_WITHOUT_GRAPH", message });
  };
  const onChangingModel = () => {
    const message =
      "model, loss or metrics depend on a state that changes between calls, such as a counter or the time, so the weights depend on " +
      "the number of workers and on interruptions: compute them from their arguments, Math.random and tf's random operations alone";
    warn("MODEL_CHANGES", message);
  };
  const onKeptTensors = (functions: readonly string[]) =>
    warn(
      "TENSORS_KEPT",
      `the training module leaves tensors behind in each call of ${functions.join(", ")}, by tf.keep or tf.variable, so the memory ` +
        "of each worker grows with every step: create such a tensor once, at the module's top level, or remove tf.keep",
    );
  return { warnings: warnings as readonly Warning[], warn, onExecution, onChangingModel, onKeptTensors };
}

/** Rows of a block. The bits of scores depend on it, as on the micro-batch's shape. */
const blockRows = 512;

export type PreparedTraining = Awaited<ReturnType<typeof prepareTraining>>;

/** @throws TrainingHaltedError if this worker cannot train the task, e.g. because its numerics differ from the run's */
export async function prepareTraining(dependencies: TrainerDependencies, task: TrainingTask) {
  const { config, store, logger } = dependencies;
  const features = await getJson(store, task.featureManifestKey, featureManifest);
  const { rows, shards } = features.splits.train;
  const shardRows = windowedShards(shards);
  const plan = planTraining(task, rows, shardRows);
  const { cacheDirectory: directory, cacheLimitBytes: limitBytes } = config;
  const cache = createShardCache({ store, directory, limitBytes });
  const { seed, microBatches, batchSize } = plan;

  const executions = executionReport(logger);
  const engine = await dependencies.createEngine({
    ...engineOptionsOf(task),
    onFallback: ({ message: reason }) =>
      logger.log("info", "no native TensorFlow: computing on WebAssembly", { reason }),
    onExecution: executions.onExecution,
    onChangingModel: executions.onChangingModel,
    onKeptTensors: executions.onKeptTensors,
  });
  if (task.hyperparameters.precision === "tf32" && task.gpusPerWorker === 0)
    logger.log("info", "precision tf32: computing in float32, because only GPUs have TF32");
  const numerics = engine.numerics();
  const differentNumerics = await agreeOnNumerics(store, task, numerics);

  if (task.model.type === "module") dependencies.watchLoops?.();
  const definition = await modelDefinition(task, features, store, executions.warn);
  const model = await engine.createModel(definition, task.seed);
  const fineTune = await loadInitialWeights(model, task, store);
  if (fineTune) logger.log("info", "begins with other weights", { from: task.fineTune?.from, ...fineTune });

  const sampling = { seed, rows, batchSize, microBatches, shardRows };
  const { feed, kind } = await openFeed(features, sampling, cache, { takesSparse: model.takesSparse });
  const validation = await openSplit(features, "validation", cache, blockRows);
  const layout = scoreLayout(definition.type === "module" ? Object.keys(definition.metrics ?? {}) : []);
  requireStoppingMetric(plan.earlyStopping, layout, validation, features.label.kind === "class");
  return {
    plan,
    rows,
    backend: engine.backend,
    numerics,
    /** Fields of the numerics that differ from the run's, although the task allows it. */
    differentNumerics,
    model,
    layout,
    feed,
    feedKind: kind,
    validation,
    /** Opens the test split. Only metrics of a module need it: the evaluation has no code of users. */
    test: layout.metrics.length === 0 ? undefined : () => openSplit(features, "test", cache, blockRows),
    fineTune,
    warnings: executions.warnings,
    warn: executions.warn,
  };
}
