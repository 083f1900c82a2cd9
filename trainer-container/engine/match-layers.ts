import type { FineTune, LayerStart } from "../../core/runs/fine-tune";
import type { ModelLayer, ParameterSlot } from "./engine";

type Shapes = ReadonlyMap<string, readonly number[]>;

export interface LayerMatch {
  /** Every layer, in the model's order. */
  readonly layers: readonly LayerStart[];
  /** Weights that the source gives. */
  readonly loaded: readonly ParameterSlot[];
  /** Reasons why the layers do not match as required; empty if they do. */
  readonly differences: readonly string[];
}

/**
 * Compares a model's layers with the source of its initial weights. A layer matches if the source has all its weights
 * by name and shape. With `prefix`, the layers before the first one that differs are loaded, and there must be one.
 *
 * @param source shapes of the source's weights, by name
 */
export function matchLayers(layers: readonly ModelLayer[], source: Shapes, match: FineTune["match"]): LayerMatch {
  const found = layers.map((layer) => ({ layer, difference: differenceOf(layer, source) }));
  const first = found.findIndex(({ difference }) => difference !== undefined);
  const prefix = first === -1 ? found.length : first;
  const starts = found.map(({ layer, difference }, index): LayerStart => {
    const size = layer.slots.reduce((sum, slot) => sum + slot.size, 0);
    if (index < prefix) return { layer: layer.name, size };
    return { layer: layer.name, size, initialised: difference ?? "after a layer that differs" };
  });
  const loaded = layers.slice(0, prefix).flatMap(({ slots }) => slots);
  return { layers: starts, loaded, differences: differencesOf(found, loaded, source, match) };
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
  const own = new Set(found.flatMap(({ layer }) => layer.slots.map(({ name }) => name)));
  const others = [...source.keys()].filter((name) => !own.has(name));
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
