import * as tf from "@tensorflow/tfjs-core";
import { type LayersModel, models } from "@tensorflow/tfjs-layers";
import { decodeSafetensors } from "../../core/safetensors";
import { applyOutputActivation, ModelArtifactError, type ModelTopology, parseTopology } from "./artifact";
import { registerOwnLayers } from "./layers/register";
import { startWasmBackend } from "./wasm-backend";

export interface ModelArtifact {
  readonly topology: string;
  readonly weights: Uint8Array;
}

export interface Predictor {
  readonly topology: ModelTopology;
  /**
   * @param inputs `[count, ...inputShape]`, row-major
   * @returns probabilities `[count, outputs]` (binary: `[count]`) or values; the same bits for any grouping of up to
   * 1024 rows
   */
  predict(inputs: Float32Array, count: number): Float32Array;
  dispose(): void;
}

/** The number of rows per pass, which bounds the memory. */
const passRows = 1024;

/** @throws ModelArtifactError if the artifact is damaged or its parts do not fit together */
export async function loadPredictor(artifact: ModelArtifact): Promise<Predictor> {
  await startWasmBackend();
  return loadPredictorHere(artifact);
}

/** Loads a model as `loadPredictor` does, on the backend that runs in this process. */
export async function loadPredictorHere(artifact: ModelArtifact): Promise<Predictor> {
  const { topology, model } = await loadLayers(artifact);
  return predictorOf(model, topology);
}

/** Returns the artifact's layers with their weights, on the process's backend. @throws ModelArtifactError */
export async function loadLayers(
  artifact: ModelArtifact,
): Promise<{ readonly topology: ModelTopology; readonly model: LayersModel }> {
  const topology = parseTopology(artifact.topology);
  const model = await rebuild(topology);
  try {
    assignWeights(model, topology, artifact.weights);
  } catch (error) {
    model.dispose();
    throw error;
  }
  return { topology, model };
}

/** Creates a predictor for existing layers. Disposing of it disposes of the layers. */
export function predictorOf(model: LayersModel, topology: ModelTopology): Predictor {
  return {
    topology,
    predict: (inputs, count) => predictInPasses(model, topology, inputs, count),
    dispose: () => {
      model.dispose();
    },
  };
}

/** Returns the topology's layers, with initial weights. @throws ModelArtifactError */
export async function rebuild({ model, inputShape, outputs }: ModelTopology): Promise<LayersModel> {
  let built: LayersModel;
  registerOwnLayers();
  try {
    built = await models.modelFromJSON({ modelTopology: model as never });
  } catch (error) {
    throw new ModelArtifactError(`The model's layers cannot be rebuilt: ${(error as Error).message}`, error);
  }
  const input = built.inputs[0]?.shape.slice(1).join();
  const output = built.outputs[0]?.shape.slice(1).join();
  if (input === inputShape.join() && output === String(outputs)) return built;
  built.dispose();
  throw new ModelArtifactError(
    `The model's layers map rows of [${input}] to [${output}], but its topology says [${inputShape}] to [${outputs}].`,
  );
}

function assignWeights(model: LayersModel, topology: ModelTopology, file: Uint8Array): void {
  const { tensors } = decodeSafetensors(file);
  if (model.weights.length !== topology.weights.length) {
    throw new ModelArtifactError(
      `The model has ${model.weights.length} weights, but its topology names ${topology.weights.length}.`,
    );
  }
  model.weights.forEach((variable, index) => {
    const name = topology.weights[index] as string;
    const tensor = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    const shape = (variable.shape as number[]).join();
    if (tensor?.dtype !== "F32" || tensor.shape.join() !== shape) {
      const stored = tensor ? `${tensor.dtype} [${tensor.shape}]` : "absent";
      throw new ModelArtifactError(
        `The weight '${name}' is ${stored} in the weights file, but the model needs F32 [${shape}].`,
      );
    }
    const value = tf.tensor(Float32Array.from(tensor.data as Float32Array), [...tensor.shape]);
    variable.write(value);
    value.dispose();
  });
}

function predictInPasses(
  model: LayersModel,
  { inputShape, outputs, task }: ModelTopology,
  inputs: Float32Array,
  count: number,
): Float32Array {
  const rowSize = inputShape.reduce((product, side) => product * side, 1);
  if (inputs.length !== count * rowSize) {
    throw new RangeError(
      `${count} rows of shape [${inputShape}] take ${count * rowSize} inputs; got ${inputs.length}.`,
    );
  }
  const result = new Float32Array(count * outputs);
  for (let first = 0; first < count; first += passRows) {
    const rows = Math.min(passRows, count - first);
    const part = inputs.slice(first * rowSize, (first + rows) * rowSize);
    tf.tidy(() => {
      const output = model.apply(tf.tensor(part, [rows, ...inputShape]), { training: false }) as tf.Tensor;
      result.set(output.dataSync() as Float32Array, first * outputs);
    });
  }
  return applyOutputActivation(task, result, outputs);
}
