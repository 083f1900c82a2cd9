import type { ModelDefinition, ModuleDefinition } from "../../../core/runs/model-definition";
import { buildModel } from "../../../trainer-container/engine/build-model";
import type { LossFunction, ModelContext, TensorFlow } from "../../../trainer-container/engine/define-training";
import type { Batch, BatchResult, Engine, OnFinal, TrainableModel } from "../../../trainer-container/engine/engine";
import { LayersTrainable } from "../../../trainer-container/engine/layers-trainable";
import { allocateSum, releaseSum } from "../../../trainer-container/kernels/sum-memory";

type LayersModel = ReturnType<TensorFlow["sequential"]>;

export type ModuleExtra = Partial<Omit<ModuleDefinition, "type" | "factory" | "loss" | "metrics">> & {
  readonly loss?: LossFunction;
  readonly metrics?: Readonly<Record<string, LossFunction>>;
};

/** A user's module, which classifies rows of six numbers unless `extra` has another shape or task. */
export function moduleOf(factory: (context: ModelContext) => unknown, extra: ModuleExtra = {}): ModuleDefinition {
  const shape = { inputShape: [6], outputs: 3, task: "classification" } as const;
  return { type: "module", ...shape, ...extra, factory } as unknown as ModuleDefinition;
}

export const stack =
  (build: (layers: TensorFlow["layers"], context: ModelContext) => LayersModel["layers"]) =>
  (context: ModelContext): LayersModel =>
    context.tf.sequential({ layers: build(context.tf.layers, context) });

interface Gradient {
  readonly result: BatchResult;
  readonly gradient: Float32Array;
}

/** Starts an engine before the tests of a `describe`, and disposes after each test what was `created` in it. */
export function modelsOf(start: () => Promise<Engine>, usualSeed = 1) {
  let engine: Engine;
  const created: { dispose(): unknown }[] = [];
  beforeAll(async () => {
    engine = await start();
  });
  afterEach(() => {
    for (const each of created.splice(0)) each.dispose();
  });
  return {
    engine: () => engine,
    created,
    async create(definition: ModelDefinition, seed = usualSeed): Promise<TrainableModel> {
      const model = await engine.createModel(definition, seed);
      created.push(model);
      return model;
    },
  };
}

/** Makes each model also on the layers' tape. */
export function modelsWithTape(start: () => Promise<Engine>) {
  const models = modelsOf(start);
  return {
    engine: models.engine,
    async create(definition: ModelDefinition, seed = 3) {
      const layers = new LayersTrainable(buildModel(definition, seed), definition);
      models.created.push(layers);
      return { model: await models.create(definition, seed), layers };
    },
  };
}

export function gradientsOf(
  model: TrainableModel,
  batch: Batch,
  randomKey: string,
  into: Float32Array,
  onFinal?: OnFinal,
): BatchResult {
  const pass = model.begin(1);
  pass.add(batch, randomKey);
  return pass.gradients(into, onFinal)[0]!;
}

/** Computes a gradient in the memory of sums, with a value there from before. */
export function gradientOf(model: TrainableModel, batch: Batch, key = "k"): Gradient {
  const into = allocateSum(model.parameterCount).fill(5);
  const result = gradientsOf(model, batch, key, into);
  const gradient = into.slice();
  releaseSum(into);
  return { result, gradient };
}

export function weightsOf(model: TrainableModel): Float32Array {
  const weights = new Float32Array(model.parameterCount);
  model.readWeights(weights);
  return weights;
}

/** Expects the tape's loss and gradient, within rounding. */
export function expectTapes(ours: Gradient, theirs: Gradient): void {
  expect(ours.result.loss).toBeCloseTo(theirs.result.loss, 4);
  expect({ ...ours.result, loss: 0 }).toEqual({ ...theirs.result, loss: 0 });
  const scale = Math.max(...theirs.gradient.map(Math.abs));
  const worst = Math.max(...ours.gradient.map((value, i) => Math.abs(value - theirs.gradient[i]!)));
  expect(worst / scale).toBeLessThan(2e-5);
}

export const bits = (values: Float32Array): string => Buffer.from(values.buffer).toString("hex");
