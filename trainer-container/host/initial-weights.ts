import { getJsonContent } from "../../core/object-documents";
import type { ObjectStore } from "../../core/ports";
import { type FineTuneOutcome, fineTuneParts, maxReportedLayers } from "../../core/runs/fine-tune";
import type { TrainingTask } from "../../core/runs/training-task";
import { decodeSafetensors } from "../../core/safetensors";
import type { TrainableModel } from "../engine/engine";
import { matchLayers } from "../engine/match-layers";
import { TrainingHaltedError } from "../loop/errors";

/** Maximum number of differences in a message. */
const maxDifferences = 10;

/**
 * Writes the initial weights of a fine-tuned training into the model. The optimizer and the position begin as in any
 * other training.
 *
 * @returns where each layer's weights come from; undefined if the task is not fine-tuned
 * @throws TrainingHaltedError `FINE_TUNE_MISMATCH`
 */
export async function loadInitialWeights(
  model: Pick<TrainableModel, "layers" | "parameterCount" | "readWeights" | "writeWeights">,
  { fineTune }: Pick<TrainingTask, "fineTune">,
  store: Pick<ObjectStore, "getContent">,
): Promise<FineTuneOutcome | undefined> {
  if (fineTune === undefined) return undefined;
  const { from, match, parts } = fineTune;
  const source = await readTensors(store, parts);
  const shapes = new Map([...source].map(([name, { shape }]) => [name, shape]));
  const { layers, loaded, differences } = matchLayers(model.layers, shapes, match);
  if (differences.length > 0) {
    const more = differences.length - maxDifferences;
    const list = `${differences.slice(0, maxDifferences).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
    const next =
      match === "strict"
        ? "Change the model, or set fineTune.match to prefix to initialise the layers from the first difference on."
        : "fineTune.match prefix needs at least the first layer of the source. Change the model, or fine-tune from other weights.";
    const message = `the model's layers are not those of ${from}: ${list}. ${next}`;
    throw new TrainingHaltedError("FINE_TUNE_MISMATCH", message);
  }
  const weights = new Float32Array(model.parameterCount);
  model.readWeights(weights);
  for (const { name, offset } of loaded) weights.set(source.get(name)!.data, offset);
  model.writeWeights(weights);
  const count = (initialised: boolean) => {
    const chosen = layers.filter((layer) => (layer.initialised !== undefined) === initialised);
    return { layers: chosen.length, weights: chosen.reduce((sum, { size }) => sum + size, 0) };
  };
  return { layers: layers.slice(0, maxReportedLayers), loaded: count(false), initialised: count(true) };
}

async function readTensors(store: Pick<ObjectStore, "getContent">, parts: string) {
  const tensors = new Map<string, { readonly shape: readonly number[]; readonly data: Float32Array }>();
  for (const { sha256 } of await getJsonContent(store, parts, fineTuneParts)) {
    for (const [name, { shape, data }] of Object.entries(decodeSafetensors(await store.getContent(sha256)).tensors)) {
      if (data instanceof Float32Array) tensors.set(name, { shape, data });
    }
  }
  return tensors;
}
