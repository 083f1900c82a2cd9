import type { GraphNode } from "../../../../adapters/saved-model/graph-def";

export interface Schedule {
  /** All nodes, each after its inputs. */
  readonly order: readonly number[];
  /** The position of each node among the recorded ones; appended nodes have that of their first reader. */
  readonly positions: readonly number[];
}

/** Orders nodes as they were recorded. @param recorded number of recorded nodes; rewritings appended the others */
export function scheduleOf(nodes: readonly GraphNode[], recorded: number): Schedule {
  const sorted = sortedByInputs(nodes);
  const positions = nodes.map((_, index) => (index < recorded ? index : Number.POSITIVE_INFINITY));
  for (const index of [...sorted].reverse()) {
    for (const source of sourcesOf(nodes[index] as GraphNode)) {
      if (source >= recorded) positions[source] = Math.min(positions[source] as number, positions[index] as number);
    }
  }
  for (const index of sorted) {
    const sources = sourcesOf(nodes[index] as GraphNode).map((source) => positions[source] as number);
    positions[index] = sources.reduce((latest, position) => Math.max(latest, position), positions[index] as number);
  }
  const ranks = new Map(sorted.map((index, rank) => [index, rank]));
  const order = [...sorted].sort(
    (a, b) =>
      compare(positions[a] as number, positions[b] as number) || (ranks.get(a) as number) - (ranks.get(b) as number),
  );
  return { order, positions };
}

/** Returns the nodes that some nodes follow from, and these nodes. */
export function ancestorsOf(nodes: readonly GraphNode[], of: readonly number[]): ReadonlySet<number> {
  const found = new Set(of);
  for (const index of found) for (const source of sourcesOf(nodes[index] as GraphNode)) found.add(source);
  return found;
}

const sourcesOf = ({ inputs, control = [] }: GraphNode): readonly number[] => [
  ...inputs.map(({ node }) => node),
  ...control,
];

/** Compares numbers, which may be infinite. */
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

function sortedByInputs(nodes: readonly GraphNode[]): readonly number[] {
  const sorted: number[] = [];
  const state = new Uint8Array(nodes.length); // 1: its inputs are on the stack; 2: sorted
  for (const start of nodes.keys()) {
    const stack = [start];
    for (let index = stack.at(-1); index !== undefined; index = stack.at(-1)) {
      if (state[index] === 0) {
        state[index] = 1;
        for (const source of sourcesOf(nodes[index] as GraphNode)) if (state[source] === 0) stack.push(source);
        continue;
      }
      stack.pop();
      if (state[index] === 1) sorted.push(index);
      state[index] = 2;
    }
  }
  return sorted;
}
