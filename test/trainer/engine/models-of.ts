/** Models of an engine with the same models on the layers' tape. */
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { allocateSum, releaseSum } from "../../../trainer-container/collective/sum-memory";
import { buildModel } from "../../../trainer-container/engine/build-model";
import type { Batch, BatchResult, Engine, TrainableModel } from "../../../trainer-container/engine/engine";
import { LayersTrainable } from "../../../trainer-container/engine/layers-trainable";

interface Gradient {
  readonly result: BatchResult;
  readonly gradient: Float32Array;
}

/** Starts an engine before the tests of a `describe`, and disposes the models of each test after it. */
export function modelsWithTape(start: () => Promise<Engine>) {
  let engine: Engine;
  const created: TrainableModel[] = [];
  beforeAll(async () => {
    engine = await start();
  });
  afterEach(() => {
    for (const model of created.splice(0)) model.dispose();
  });
  return {
    engine: () => engine,
    async create(definition: ModelDefinition, seed = 3) {
      const model = await engine.createModel(definition, seed);
      const layers = new LayersTrainable(buildModel(definition, seed), definition);
      created.push(model, layers);
      return { model, layers };
    },
  };
}

/** Computes a gradient in the memory of sums, with a value there from before. */
export function gradientOf(model: TrainableModel, batch: Batch): Gradient {
  const into = allocateSum(model.parameterCount).fill(5);
  const result = model.gradients(batch, "k", into);
  const gradient = into.slice();
  releaseSum(into);
  return { result, gradient };
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
