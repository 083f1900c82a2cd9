/**
 * Chooses where to cut the forward pass (`rewrites/rematerialise.ts`). A *position* is the number of nodes before it. A
 * value *crosses* a cut if it is computed before and read after it; a pass needs the crossing values and its largest
 * segment with gradients.
 */
import type { GraphNode, Value } from "../../../adapters/saved-model/graph-def";
import { processMemory } from "../layer-checks";
import { ancestorsOf, bytesOf } from "./rewrites/rematerialise";

/** Segments of at most 1/2, 1/3, … of the forward pass are tried. */
const maxSegments = 64;

/** Returns the memory in bytes that a pass may take: half of what this process has. Data, weights and the optimizer are there too. */
export function memoryLimit(): number {
  return processMemory() / 2;
}

interface ForwardPass {
  readonly nodes: readonly GraphNode[];
  readonly results: readonly Value[];
  /** Numbers of nodes before the ends of layers' calls. */
  readonly ends: readonly number[];
}

/** Returns the bytes of a pass: the tape holds each value and its gradient. */
export function bytesOfPass(pass: ForwardPass): number {
  return 2 * sizesBefore(pass)(pass.nodes.length);
}

/** Chooses the cuts with which the pass needs the least memory, as indices in `ends`. */
export function chooseCuts(pass: ForwardPass): ReadonlySet<number> {
  const bytesBefore = sizesBefore(pass);
  const crossing = crossingBytes(pass);
  const positions = [0, ...pass.ends, pass.nodes.length];
  const total = bytesBefore(pass.nodes.length);
  let best: Cuts = { bytes: 2 * total, cuts: [] };
  for (let segments = 2; segments <= maxSegments; segments += 1) {
    const maxSegment = total / segments;
    const cheapest = cheapestCuts(positions, maxSegment, crossing, bytesBefore);
    if (cheapest && cheapest.bytes + 2 * maxSegment < best.bytes) {
      best = { bytes: cheapest.bytes + 2 * maxSegment, cuts: cheapest.cuts };
    }
  }
  return new Set(best.cuts.map((cut) => cut - 1));
}

interface Cuts {
  readonly bytes: number;
  readonly cuts: readonly number[];
}

/** The cuts with the fewest crossing bytes so that no segment exceeds `maxSegment`; undefined: there are none. */
function cheapestCuts(
  positions: readonly number[],
  maxSegment: number,
  crossing: (position: number) => number,
  bytesBefore: (position: number) => number,
): Cuts | undefined {
  const last = positions.length - 1;
  /** By index of a position: the crossing bytes of the cheapest cuts up to it, itself included, and the cut before it. */
  const bytes = [0];
  const cutBefore = [0];
  for (let end = 1; end <= last; end += 1) {
    const position = positions[end] as number;
    let least = Number.POSITIVE_INFINITY;
    for (let start = end - 1; start >= 0; start -= 1) {
      if (bytesBefore(position) - bytesBefore(positions[start] as number) > maxSegment) break;
      if ((bytes[start] as number) < least) {
        least = bytes[start] as number;
        cutBefore[end] = start;
      }
    }
    bytes[end] = least + (end === last ? 0 : crossing(position));
  }
  const sum = bytes[last] as number;
  if (!Number.isFinite(sum)) return undefined;
  const cuts: number[] = [];
  for (let cut = cutBefore[last] as number; cut > 0; cut = cutBefore[cut] as number) cuts.unshift(cut);
  return { bytes: sum, cuts };
}

const isInput = ({ op, inputs }: GraphNode): boolean => inputs.length === 0 || op === "ReadVariableOp";

/** Returns a function for the bytes of the forward pass's values before a position. */
function sizesBefore({ nodes, results }: ForwardPass): (position: number) => number {
  const forward = ancestorsOf(
    nodes,
    results.map(({ node }) => node),
  );
  const sums = [0];
  for (const [index, node] of nodes.entries()) {
    sums.push((sums[index] as number) + (forward.has(index) && !isInput(node) ? bytesOf(node) : 0));
  }
  return (position) => sums[position] as number;
}

/** Returns a function for the bytes of values from before a position that the forward pass reads after it. */
function crossingBytes({ nodes, results }: ForwardPass): (position: number) => number {
  const lastReader = new Map<number, number>();
  for (const reader of ancestorsOf(
    nodes,
    results.map(({ node }) => node),
  )) {
    for (const { node } of (nodes[reader] as GraphNode).inputs) {
      lastReader.set(node, Math.max(lastReader.get(node) ?? 0, reader));
    }
  }
  const changes = new Float64Array(nodes.length + 1);
  for (const [index, reader] of lastReader) {
    const node = nodes[index] as GraphNode;
    if (isInput(node)) continue;
    changes[index + 1] = (changes[index + 1] as number) + bytesOf(node);
    changes[reader + 1] = (changes[reader + 1] as number) - bytesOf(node);
  }
  const crossing: number[] = [];
  let bytes = 0;
  for (const change of changes) {
    bytes += change;
    crossing.push(bytes);
  }
  return (position) => crossing[position] as number;
}
