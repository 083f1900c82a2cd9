/**
 * Computes forward values again in the backward pass (Chen et al., 2016), with the same bits. Values that a later
 * segment reads are kept; at a segment the backward pass runs a copy of its nodes. The last one is not copied.
 */
import type { GraphNode, Value } from "../../../../adapters/saved-model/graph-def";
import { float32 } from "../builder";
import { isElementwise } from "./elementwise";

interface Schedule {
  /** All nodes, each after its inputs. */
  readonly order: readonly number[];
  /** The position of each node among the recorded ones; appended nodes have that of their first reader. */
  readonly positions: readonly number[];
}

/** Orders nodes as they were recorded. @param recorded number of recorded nodes; rewritings appended the others */
function scheduleOf(nodes: readonly GraphNode[], recorded: number): Schedule {
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
  const ancestors = new Set(of);
  for (const index of ancestors) for (const source of sourcesOf(nodes[index] as GraphNode)) ancestors.add(source);
  return ancestors;
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

/** A value this many times smaller than its segment's largest one is kept. */
const smallRatio = 64;

/** Nodes whose values are in memory anyway. */
const isSource = ({ op, inputs }: GraphNode): boolean => inputs.length === 0 || op === "ReadVariableOp";

/** Whether TensorFlow may merge a node with others. It does not if another node waits for it or it for another. */
const isMergeable = (node: GraphNode): boolean => isElementwise(node) || node.op === "AddN";

export interface RematerialiseOptions {
  readonly forward: readonly Value[];
  readonly backward: readonly Value[];
  /** Values that callers read, these results and what follows from them. */
  readonly fetched: readonly Value[];
  /** Number of recorded nodes; rewritings appended the others. */
  readonly recorded: number;
  /** Numbers of recorded nodes before each cut, ascending. */
  readonly cuts: readonly number[];
}

/** Returns an equal graph that needs less memory. The nodes keep their positions; copies are appended. */
export function rematerialise(nodes: readonly GraphNode[], options: RematerialiseOptions): readonly GraphNode[] {
  if (options.cuts.length === 0) return nodes;
  const { order, positions } = scheduleOf(nodes, options.recorded);
  const backward = ancestorsOf(nodes, nodesOf(options.backward));
  const live = ancestorsOf(nodes, nodesOf(options.fetched));
  const forward = new Set(ancestorsOf(nodes, nodesOf(options.forward)));
  const lastCut = options.cuts.at(-1) as number;
  for (const node of live) if ((positions[node] as number) < lastCut) forward.add(node);
  const shared = sharedNodes(nodes, live);
  const segments = segmentsOf(nodes, forward, options.cuts, { order, positions }, shared);
  const segmentOf = (node: number): number => segments[node] as number;
  const isKept = keptValues(nodes, forward, segmentOf, options.cuts.length, shared);
  const copies = new SegmentCopies(nodes, isKept, segmentOf, shared);
  const { all } = copies;
  let last: number | undefined;
  for (const index of order) {
    if (!live.has(index) || forward.has(index)) continue;
    const node = nodes[index] as GraphNode;
    const inputs = node.inputs.map((value) => (isKept(value) ? value : copies.of(value)));
    const follows = inputs.some(({ node: source }) => !forward.has(source));
    const free = !isMergeable(node);
    const barrier = free && !follows && inputs.length > 0 ? copies.lastBarrier : undefined;
    all[index] = { ...node, inputs, ...(barrier === undefined ? {} : { control: [...(node.control ?? []), barrier] }) };
    if (free) copies.finished.push(index);
    if (free && backward.has(index)) last = index;
  }
  if (copies.lastBarrier === undefined || last === undefined) return nodes;
  const end = all[last] as GraphNode;
  all[last] = { ...end, control: [...(end.control ?? []), ...copies.guards] };
  return all;
}

class SegmentCopies {
  /** The nodes and the appended ones. */
  readonly all: GraphNode[];
  finished: number[] = [];
  /** Guards of copies since the last barrier. */
  guards: number[] = [];
  lastBarrier: number | undefined;
  /** By segment: the barrier and what runs before it. A segment's copies run after its barrier. */
  private readonly barriers = new Map<number, { readonly node: number; readonly control: number[] }>();
  private readonly copies = new Map<number, number>();
  /** Nodes that backward nodes read no longer. */
  private readonly guarded = new Set<number>();

  constructor(
    private readonly nodes: readonly GraphNode[],
    private readonly isKept: (value: Value) => boolean,
    private readonly segmentOf: (node: number) => number,
    private readonly shared: ReadonlySet<number>,
  ) {
    this.all = [...nodes];
  }

  /** Returns the copy of a value that is not kept. */
  of(value: Value): Value {
    const barrier = this.barrierOf(this.segmentOf(value.node));
    for (const node of this.missing(value.node)) {
      const copy = this.add(this.copied(node, barrier.node));
      this.copies.set(node, copy);
      if (this.shared.has(node)) this.guards.push(this.guard(copy));
    }
    if (!this.guarded.has(value.node)) barrier.control.push(this.guard(value.node));
    this.guarded.add(value.node);
    return { node: this.copies.get(value.node) as number, output: value.output };
  }

  private copied(index: number, barrier: number): GraphNode {
    const node = this.nodes[index] as GraphNode;
    const inputs = node.inputs.map((value) =>
      this.isKept(value) ? value : { node: this.copies.get(value.node) as number, output: value.output },
    );
    if (!node.inputs.every((value) => this.isKept(value))) return { ...node, inputs, copyOf: index };
    const variable = inputs.findIndex((value) => (this.nodes[value.node] as GraphNode).op !== "Const");
    const at = Math.max(0, variable);
    const first = inputs[at] as Value;
    return { ...node, inputs: inputs.with(at, this.delayed(first, barrier)), copyOf: index };
  }

  /** Returns a value, but not before a barrier. */
  private delayed(value: Value, barrier: number): Value {
    const type = typeOf(this.nodes[value.node] as GraphNode, value.output);
    const attributes = { T: { kind: "type", value: type } } as const;
    const gate = { op: "Identity", inputs: [value], control: [barrier], copyOf: value.node, attributes };
    return { node: this.add(gate), output: 0 };
  }

  /**
   * Keeps TensorFlow from merging a node with its single reader, which rounds differently: another node waits for it.
   */
  private guard(node: number): number {
    return this.add({ op: "ControlTrigger", inputs: [], control: [node], attributes: {} });
  }

  private barrierOf(segment: number) {
    const cached = this.barriers.get(segment);
    if (cached) return cached;
    const previous = this.lastBarrier === undefined ? [] : [this.lastBarrier];
    const control = [...previous, ...this.finished, ...this.guards];
    const barrier = { node: this.add({ op: "NoOp", inputs: [], control, attributes: {} }), control };
    this.barriers.set(segment, barrier);
    this.lastBarrier = barrier.node;
    this.finished = [];
    this.guards = [];
    return barrier;
  }

  private add(node: GraphNode): number {
    return this.all.push(node) - 1;
  }

  /** Returns the nodes to copy so that a node can be copied, and this node, each after its inputs. */
  private missing(wanted: number): readonly number[] {
    const visited = new Set<number>();
    const sorted = new Set<number>();
    const stack = [wanted];
    for (let index = stack.at(-1); index !== undefined; index = stack.at(-1)) {
      if (visited.has(index) || this.copies.has(index)) {
        stack.pop();
        if (!this.copies.has(index)) sorted.add(index);
        continue;
      }
      visited.add(index);
      for (const value of (this.nodes[index] as GraphNode).inputs) {
        if (!this.isKept(value) && !visited.has(value.node)) stack.push(value.node);
      }
    }
    return [...sorted];
  }
}

function typeOf({ outputs, attributes }: GraphNode, output: number): number {
  const inferred = outputs?.[output]?.type;
  if (inferred !== undefined) return inferred;
  const { Tout, DstT, T } = attributes;
  if (Tout?.kind === "types") return Tout.value[output] as number;
  const type = DstT ?? T;
  return type?.kind === "type" ? type.value : float32;
}

const nodesOf = (values: readonly Value[]): readonly number[] => values.map(({ node }) => node);

function sharedNodes(nodes: readonly GraphNode[], live: ReadonlySet<number>): ReadonlySet<number> {
  const read = new Set<number>();
  const shared = new Set<number>();
  for (const reader of live) {
    for (const { node } of (nodes[reader] as GraphNode).inputs) (read.has(node) ? shared : read).add(node);
  }
  return shared;
}

/** Returns the segment of each node of the forward pass. One that is read once is in its reader's, see `guard`. */
function segmentsOf(
  nodes: readonly GraphNode[],
  forward: ReadonlySet<number>,
  cuts: readonly number[],
  { order, positions }: Schedule,
  shared: ReadonlySet<number>,
): readonly number[] {
  const segments = positions.map((position) => cuts.filter((cut) => cut <= position).length);
  for (const reader of [...order].reverse()) {
    if (!forward.has(reader)) continue;
    for (const { node } of (nodes[reader] as GraphNode).inputs) {
      if (!shared.has(node)) segments[node] = segments[reader] as number;
    }
  }
  return segments;
}

/** Returns whether a value stays in memory, or does not belong to the forward pass. */
function keptValues(
  nodes: readonly GraphNode[],
  forward: ReadonlySet<number>,
  segmentOf: (node: number) => number,
  last: number,
  shared: ReadonlySet<number>,
): (value: Value) => boolean {
  const kept = new Set<string>();
  const largest = new Map<number, number>();
  for (const reader of forward) {
    for (const value of (nodes[reader] as GraphNode).inputs) {
      if (segmentOf(value.node) < segmentOf(reader)) kept.add(keyOf(value));
    }
    const segment = segmentOf(reader);
    const bytes = bytesOf(nodes[reader] as GraphNode);
    largest.set(segment, Math.max(largest.get(segment) ?? 0, bytes));
  }
  return (value) => {
    const node = nodes[value.node] as GraphNode;
    if (!forward.has(value.node) || isSource(node) || kept.has(keyOf(value))) return true;
    const segment = segmentOf(value.node);
    if (segment === last) return true;
    return (
      shared.has(value.node) &&
      node.outputs !== undefined &&
      bytesOf(node) * smallRatio <= (largest.get(segment) as number)
    );
  };
}

const keyOf = ({ node, output }: Value): string => `${node}:${output}`;

/** Returns the size of a node's outputs, taking 4 bytes an element; 0 if it is unknown. */
export const bytesOf = ({ outputs = [] }: GraphNode): number =>
  outputs.reduce((sum, { shape }) => sum + shape.reduce((product, side) => product * side, 4), 0);
