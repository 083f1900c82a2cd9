import { featureManifest } from "../../core/features/shapes";
import { getJson } from "../../core/object-documents";
import type { TrainingTask } from "../../core/runs/training-task";
import { openFeed, openSplit } from "../data/open-feed";
import { windowedShards } from "../data/row-order";
import { createShardCache } from "../data/shard-cache";
import { requireStoppingMetric } from "../loop/best-epoch";
import { planTraining } from "../loop/plan";
import { scoreLayout } from "../loop/score";
import type { TrainerDependencies } from "./dependencies";
import { executionReport } from "./executions";
import { loadInitialWeights } from "./initial-weights";
import { agreeOnNumerics, engineOptionsOf, modelDefinition } from "./prepare";

/** Rows of a block. The bits of scores depend on it, as on the micro-batch's shape. */
const blockRows = 512;

export type PreparedTraining = Awaited<ReturnType<typeof prepareTraining>>;

/**
 * Opens the data and builds the model of a task, with its initial weights.
 *
 * @throws TrainingHaltedError if this worker cannot train the task, e.g. because its numerics differ from the run's
 */
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
    /** Warnings of the run so far. */
    warnings: executions.warnings,
    warn: executions.warn,
  };
}
