/** A parameter's position in a flat buffer, in elements. */
interface Slot {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly size: number;
}

const bytesPerElement = 4;

/**
 * Cuts a buffer's parameters into groups, each stored as one object: sequences of neighbours of at least `minimumBytes` (the
 * last may be smaller). A parameter is never split. Groups are small enough that a frozen layer is not sent again because
 * another one changed, and large enough that a model of a thousand layers does not cost a thousand requests.
 */
export function tensorGroups<S extends Slot>(
  layout: readonly S[],
  minimumBytes: number = 4 * 1024 * 1024,
): readonly (readonly S[])[] {
  const groups: S[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const slot of layout) {
    if (bytes >= minimumBytes) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(slot);
    bytes += slot.size * bytesPerElement;
  }
  return groups;
}
