import type { LayersModel } from "@tensorflow/tfjs-layers";
import type { ParameterSlot } from "./engine";

type LayerVariable = LayersModel["weights"][number];

/** Lays out the variables in sequence, the first `trainable` of them as trainable, with names that are unique in the model. */
export function layOut(
  variables: readonly LayerVariable[],
  trainable: number,
  canonical: ReadonlyMap<string, string>,
): readonly ParameterSlot[] {
  const seen = new Map<string, number>();
  let offset = 0;
  return variables.map((variable, index) => {
    const name = unique(rename(variable.originalName, canonical), seen);
    const shape = variable.shape as number[];
    const size = shape.reduce((product, side) => product * side, 1);
    const slot: ParameterSlot = { name, shape, offset, size, trainable: index < trainable };
    offset += size;
    return slot;
  });
}

/** Renames every path component that is a layer's name: `dense_Dense7/kernel` → `dense_Dense1/kernel`. */
function rename(name: string, canonical: ReadonlyMap<string, string>): string {
  return name
    .split("/")
    .map((part) => canonical.get(part) ?? part)
    .join("/");
}

function unique(name: string, seen: Map<string, number>): string {
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  return count === 1 ? name : `${name}#${count}`;
}
