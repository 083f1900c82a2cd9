import * as tf from "@tensorflow/tfjs-core";
import { loadLayersModel } from "@tensorflow/tfjs-layers";
import { type ExportableModel, type ExportTools, nothingToExport } from "../../core/export";
import { applyOutputActivation, ModelArtifactError } from "./artifact";
import { isIncomplete, stockRank } from "./layers/convolutions";
import { isOwnClass } from "./layers/register";
import { joinedMasks, repairedClasses, unreadActivation } from "./layers/serialized";
import { networkOf } from "./network";
import { loadLayers, predictorOf } from "./predictor";
import { startWasmBackend } from "./wasm-backend";

/** Loads a trained model for export. @throws NOTHING_TO_EXPORT if its files do not form a model */
export const loadExportable: ExportTools["loadModel"] = async (files): Promise<ExportableModel> => {
  await startWasmBackend();
  const { model, topology } = await loadLayers(files).catch((error: unknown) => {
    if (error instanceof ModelArtifactError) throw nothingToExport(error.message, error);
    throw error;
  });
  const predictor = predictorOf(model, topology);
  const network = networkOf(model);
  const completed = network.layers.filter(
    ({ className, outputShape }) =>
      repairedClasses.has(className) || (className === "BatchNormalization" && outputShape.length >= stockRank),
  );
  return {
    predict: (inputs, rows) => predictor.predict(inputs, rows),
    dispose: () => predictor.dispose(),
    network,
    ownLayers: [...ownLayersOf(topology.model), ...completed, ...joinedMasks(network.layers)],
    weights: model.weights.map((weight) => ({
      name: weight.originalName,
      shape: weight.shape as number[],
      data: Float32Array.from(weight.read().dataSync()),
    })),
  };
};

/** Finds the layers that stock TensorFlow.js lacks or cannot read, also inside of wrappers and nested models. */
function ownLayersOf(value: unknown): ExportableModel["ownLayers"] {
  if (typeof value !== "object" || value === null) return [];
  const { class_name: className, config } = value as {
    class_name?: unknown;
    config?: Readonly<Record<string, unknown>>;
  };
  const inner = Object.values(value).flatMap(ownLayersOf);
  if (config?.["activation"] === unreadActivation)
    return [{ name: String(config["name"]), className: unreadActivation }, ...inner];
  if (typeof className !== "string") return inner;
  if (!isOwnClass(className) && !isIncomplete(className, camelCased(config))) return inner;
  return [{ name: String(config?.["name"]), className }, ...inner];
}

/** A topology has names in snake case. */
const camelCased = (config: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name.replace(/_(.)/g, (_, c: string) => c.toUpperCase()), value]),
  );

export const runLayersModel: ExportTools["runLayersModel"] = async ({ modelJson, weights, task }, inputs, rows) => {
  await startWasmBackend();
  const { modelTopology, weightsManifest } = JSON.parse(modelJson) as tf.io.ModelJSON;
  const model = await loadLayersModel(
    tf.io.fromMemory({
      modelTopology,
      weightSpecs: weightsManifest.flatMap((group) => group.weights),
      weightData: Uint8Array.from(weights).buffer,
    }),
  );
  try {
    return tf.tidy(() => {
      const [, ...shape] = model.inputs[0]!.shape as [null, ...number[]];
      const output = (model.predict(tf.tensor(inputs, [rows, ...shape])) as tf.Tensor).dataSync() as Float32Array;
      return applyOutputActivation(task, Float32Array.from(output), output.length / rows);
    });
  } finally {
    model.dispose();
  }
};
