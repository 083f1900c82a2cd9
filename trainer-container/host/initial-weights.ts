/** The weights that a fine-tuned model starts with: those of the layers that match. */

import { getJsonContent } from "../../core/object-documents";
import type { ObjectStore } from "../../core/ports";
import {
  type FineTune,
  type FineTuneOutcome,
  fineTuneParts,
  type LayerStart,
  maxReportedLayers,
} from "../../core/runs/fine-tune";
import type { TrainingTask } from "../../core/runs/training-task";
import { decodeSafetensors } from "../../core/safetensors";
import type { ModelLayer, ParameterSlot, TrainableModel } from "../engine/engine";
import { TrainingHaltedError } from "../loop/errors";

type Shapes = ReadonlyMap<string, readonly number[]>;

interface LayerMatch {
  readonly layers: readonly LayerStart[];
  /** Weights that the source gives. */
  readonly loaded: readonly ParameterSlot[];
  /** Reasons why the layers do not match as required; empty if they do. */
  readonly differences: readonly string[];
}

/**
 * A layer matches if the source has all its weights by name and shape. With `prefix`, the layers before the first one
 * that differs are loaded, and there must be one.
 */
export function matchLayers(layers: readonly ModelLayer[], source: Shapes, match: FineTune["match"]): LayerMatch {
  const compared = layers.map((layer) => ({ layer, difference: differenceOf(layer, source) }));
  const first = compared.findIndex(({ difference }) => difference !== undefined);
  const prefix = first === -1 ? compared.length : first;
  const starts = compared.map(({ layer, difference }, index): LayerStart => {
    const size = layer.slots.reduce((sum, slot) => sum + slot.size, 0);
    if (index < prefix) return { layer: layer.name, size };
    return { layer: layer.name, size, initialised: difference ?? "after a layer that differs" };
  });
  const loaded = layers.slice(0, prefix).flatMap(({ slots }) => slots);
  return { layers: starts, loaded, differences: differencesOf(compared, loaded, source, match) };
}

function differencesOf(
  found: readonly { readonly layer: ModelLayer; readonly difference: string | undefined }[],
  loaded: readonly ParameterSlot[],
  source: Shapes,
  match: FineTune["match"],
): readonly string[] {
  const differences = found.flatMap(({ layer, difference }) =>
    difference ? [`layer ${layer.name}: ${difference}`] : [],
  );
  if (match === "prefix") return loaded.length > 0 ? [] : differences.slice(0, 1);
  const slotNames = new Set(found.flatMap(({ layer }) => layer.slots.map(({ name }) => name)));
  const others = [...source.keys()].filter((name) => !slotNames.has(name));
  return [...differences, ...(others.length > 0 ? [`only the source has ${listed(others)}`] : [])];
}

function differenceOf({ slots }: ModelLayer, source: Shapes): string | undefined {
  const absent = slots.filter(({ name }) => !source.has(name));
  if (absent.length > 0) return `the source has no ${listed(absent.map(({ name }) => name))}`;
  const other = slots.find(({ name, shape }) => source.get(name)!.join() !== shape.join());
  return other && `${other.name} has shape [${other.shape}] here and [${source.get(other.name)}] in the source`;
}

const maxListed = 8;

function listed(names: readonly string[]): string {
  const more = names.length - maxListed;
  return `${names.slice(0, maxListed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const maxDifferences = 10;

/**
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
