/** Numbers unnamed layers within the model: TensorFlow.js counts them per process, and checkpoints match names. */
import type { LayersModel } from "@tensorflow/tfjs-layers";

type Layer = LayersModel["layers"][number];

/** Matches the names from `getUid`: snake-case class, underscore, class, count; or `input1`, `model2`. */
const automaticName = /^((?:[a-z0-9_]+_[A-Z]\w*?)|input|model|sequential_)(\d+)(_input)?$/;

/** Maps the automatic ones of `names` from their name in this process to a name by position. */
export function canonicalNames(names: readonly string[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  const taken = new Set(names.filter((name) => !automaticName.test(name)));
  const canonical = new Map<string, string>();
  for (const name of names) {
    const match = automaticName.exec(name);
    if (!match || canonical.has(name)) continue;
    const [, prefix = "", , suffix = ""] = match;
    const key = `${prefix}#${suffix}`;
    let count = counts.get(key) ?? 0;
    let candidate: string;
    do {
      count++;
      candidate = `${prefix}${count}${suffix}`;
    } while (taken.has(candidate));
    counts.set(key, count);
    taken.add(candidate);
    canonical.set(name, candidate);
  }
  return canonical;
}

/** Replaces every string of a JSON value that is exactly a key of `names`. */
export function renameStrings(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => renameStrings(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renameStrings(item, names)]));
}

/** Layers inside of a layer: of nested models, wrappers, the copies of a bidirectional wrapper, and recurrent cells. */
interface Parts {
  readonly layers?: readonly Layer[];
  readonly layer?: Layer;
  readonly forwardLayer?: Layer;
  readonly backwardLayer?: Layer;
  readonly cell?: Layer;
  readonly cells?: readonly Layer[];
}

/** Returns all layers in order, including those inside of others. A layer that is in several places is there several times. */
export function allLayers(layersOfModel: readonly Layer[]): readonly Layer[] {
  return layersOfModel.flatMap((each) => {
    const { layers = [], layer, forwardLayer, backwardLayer, cell, cells = [] } = each as Parts;
    const inside = [...layers, layer, forwardLayer, backwardLayer, cell, ...cells];
    return [each, ...allLayers(inside.filter((part) => part !== undefined))];
  });
}

export function layerNames(layersOfModel: readonly Layer[]): readonly string[] {
  return allLayers(layersOfModel).map(({ name }) => name);
}
