/**
 * Calls of XLA-compiled functions for groups of elementwise operations: one pass over memory each. A result that other
 * groups alone read, and that follows from one tensor, is computed again where it is read.
 */

import { createHash } from "node:crypto";
import {
  type FunctionNode,
  type FunctionValue,
  type GraphFunction,
  type GraphNode,
  type OutputType,
  referenceTo,
  savedModel,
  type Value,
} from "../../../../adapters/saved-model/graph-def";
import { computesElements, isElementwise, outputNameOf, sharesInput, takesShape } from "./elementwise";

/** Elements from which a group is worth its call. */
const minElements = 8_192;
/** Length of the last axis from which XLA's inner loops are fast. */
const minInnermost = 64;
/** Bounds the time of the search and of the compilation. */
const maxMembers = 64;

const elementsOf = ({ outputs }: GraphNode): number =>
  (outputs?.[0]?.shape ?? []).reduce((product, side) => product * side, 1);

/**
 * Groups nodes of equal size along their values; no path leaves a group and enters it again.
 * @param kept nodes that stay by themselves
 * @returns the groups, and each node's group
 */
function clusterNodes(nodes: readonly GraphNode[], kept: ReadonlySet<number>): (readonly number[] | undefined)[] {
  const clusterOf: (number[] | undefined)[] = nodes.map((node, index) =>
    !kept.has(index) && canJoin(nodes, node) ? [index] : undefined,
  );
  const search = new PathSearch(nodes, clusterOf);
  for (const [index, node] of nodes.entries()) {
    for (const { node: source } of node.inputs) {
      const [cluster, other] = [clusterOf[index], clusterOf[source]];
      if (cluster === undefined || other === undefined || cluster === other) continue;
      if (elementsOf(node) !== elementsOf(nodes[source] as GraphNode)) continue;
      const joined = [...other, ...cluster];
      if (joined.length > maxMembers || search.returns(joined)) continue;
      for (const member of joined) clusterOf[member] = joined;
    }
  }
  return clusterOf;
}

function canJoin(nodes: readonly GraphNode[], node: GraphNode): boolean {
  if (!isElementwise(node) || node.outputs?.length !== 1 || elementsOf(node) < minElements) return false;
  if (!node.inputs.every((input) => nodes[input.node]?.outputs)) return false;
  if (takesShape(node)) return nodes[node.inputs[1]?.node ?? -1]?.op === "Const";
  return (node.outputs[0]?.shape.at(-1) ?? 0) >= minInnermost;
}

class PathSearch {
  private readonly seen: Int32Array;
  private searches = 0;

  constructor(
    private readonly nodes: readonly GraphNode[],
    private readonly clusterOf: readonly (readonly number[] | undefined)[],
  ) {
    this.seen = new Int32Array(nodes.length);
  }

  returns(group: readonly number[]): boolean {
    const { nodes, clusterOf, seen } = this;
    const members = new Set(group);
    const first = Math.min(...group);
    this.searches += 1;
    const open: number[] = [];
    const expand = (node: number, skipped?: ReadonlySet<number>) => {
      for (const { node: source } of (nodes[node] as GraphNode).inputs) if (!skipped?.has(source)) open.push(source);
    };
    for (const member of group) expand(member, members);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (members.has(node)) return true;
      if (seen[node] === this.searches) continue;
      const together = clusterOf[node] ?? [node];
      for (const each of together) seen[each] = this.searches;
      // A node comes after its inputs, so earlier ones do not depend on the group.
      if (Math.max(...together) > first) for (const each of together) expand(each);
    }
    return false;
  }
}

/** Passes over memory that a group must save, in elements. */
const minSaved = 524_288;
/** Largest number of operations that are computed again for one value. */
const maxRepeated = 16;
/** Largest constant that becomes a part of a function, in elements. */
const maxConstant = 16;
/** A tensor this many times smaller than the group's is read at no cost. */
const smallRatio = 8;

type Cluster = readonly number[];

interface Body {
  /** Members, repeated operations and constants. */
  readonly nodes: Set<number>;
  /** Values that it reads, by their names. */
  readonly inputs: Map<string, Value>;
  /** Members that others read. */
  readonly outputs: Set<number>;
}

/** Returns an equal graph: nodes, each after its inputs, keep their positions; calls are appended. */
export function fuseElementwise(nodes: readonly GraphNode[], fetched: readonly Value[]): readonly GraphNode[] {
  const live = liveNodes(nodes, fetched);
  const kept = new Set([...nodes.keys()].filter((index) => !live.has(index)));
  for (const { node } of fetched) kept.add(node);
  let clusterOf = clusterNodes(nodes, kept);
  for (;;) {
    const bodies = bodiesOf(nodes, fetched, clusterOf, repeatableNodes(nodes, clusterOf, live));
    const useless = new Set([...bodies].filter(([, body]) => !isWorthwhile(nodes, body)).map(([cluster]) => cluster));
    if (useless.size === 0) return bodies.size === 0 ? nodes : withCalls(nodes, [...bodies.values()]);
    clusterOf = clusterOf.map((cluster) => (cluster && useless.has(cluster) ? undefined : cluster));
  }
}

function bodiesOf(
  nodes: readonly GraphNode[],
  fetched: readonly Value[],
  clusterOf: ClusterOf,
  repeatable: ReadonlySet<number>,
): ReadonlyMap<Cluster, Body> {
  const bodies = new Map<Cluster, Body>();
  const demanded = new Set<number>();
  const open = fetched.map(({ node }) => node);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (demanded.has(node)) continue;
    demanded.add(node);
    const cluster = clusterOf[node];
    const { inputs, control = [] } = nodes[node] as GraphNode;
    // A group would copy a tensor that shares its input's memory.
    if (cluster === undefined || sharesInput(nodes[node] as GraphNode)) {
      open.push(...inputs.map((input) => input.node), ...control);
      continue;
    }
    const body = bodies.get(cluster) ?? { nodes: new Set(), inputs: new Map(), outputs: new Set() };
    bodies.set(cluster, body);
    body.outputs.add(node);
    for (const value of complete(nodes, body, node, clusterOf, repeatable)) open.push(value.node);
  }
  return bodies;
}

type ClusterOf = readonly (Cluster | undefined)[];

function liveNodes(nodes: readonly GraphNode[], fetched: readonly Value[]): ReadonlySet<number> {
  const live = new Set(fetched.map(({ node }) => node));
  for (const index of live) {
    const { inputs, control = [] } = nodes[index] as GraphNode;
    for (const source of [...inputs.map(({ node }) => node), ...control]) live.add(source);
  }
  return live;
}

/** Each operation passes over memory, and a function once for each output. */
function isWorthwhile(nodes: readonly GraphNode[], body: Body): boolean {
  const computing = [...body.nodes].filter((index) => computesElements(nodes[index] as GraphNode)).length;
  const [output = 0] = body.outputs;
  return (computing - body.outputs.size) * elementsOf(nodes[output] as GraphNode) >= minSaved;
}

/** Returns the results that are computed again where they are read. */
function repeatableNodes(
  nodes: readonly GraphNode[],
  clusterOf: ClusterOf,
  live: ReadonlySet<number>,
): ReadonlySet<number> {
  const leaving = new Set<number>();
  const readAlone = new Set<number>();
  for (const index of live) {
    const { inputs, control = [] } = nodes[index] as GraphNode;
    for (const source of [...inputs.map(({ node }) => node), ...control]) {
      if (clusterOf[source] && clusterOf[source] !== clusterOf[index]) leaving.add(source);
      if (clusterOf[index] === undefined) readAlone.add(source);
    }
  }
  const repeatable = new Set<number>();
  for (const node of [...leaving].sort((a, b) => a - b)) {
    if (!readAlone.has(node) && isCheap(nodes, node, clusterOf, repeatable)) repeatable.add(node);
  }
  return repeatable;
}

/** Whether a node follows from one large tensor by few operations of its group and of repeatable results. */
function isCheap(
  nodes: readonly GraphNode[],
  node: number,
  clusterOf: ClusterOf,
  repeatable: ReadonlySet<number>,
): boolean {
  const elements = elementsOf(nodes[node] as GraphNode);
  const repeated = new Set([node]);
  const large = new Set<number>();
  for (const each of repeated) {
    for (const { node: source } of (nodes[each] as GraphNode).inputs) {
      if (clusterOf[source] && (clusterOf[source] === clusterOf[each] || repeatable.has(source))) repeated.add(source);
      else if (elementsOf(nodes[source] as GraphNode) * smallRatio > elements) large.add(source);
    }
    if (repeated.size > maxRepeated || large.size > 1) return false;
  }
  return true;
}

/** Adds to a body what an output follows from. @returns new values that it reads */
function complete(
  nodes: readonly GraphNode[],
  body: Body,
  output: number,
  clusterOf: ClusterOf,
  repeatable: ReadonlySet<number>,
): readonly Value[] {
  const read: Value[] = [];
  const open = [output];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (body.nodes.has(index)) continue;
    body.nodes.add(index);
    for (const value of (nodes[index] as GraphNode).inputs) {
      const source = nodes[value.node] as GraphNode;
      const within = clusterOf[value.node] !== undefined && clusterOf[value.node] === clusterOf[index];
      if (within || repeatable.has(value.node) || isSmallConstant(source)) open.push(value.node);
      else if (!body.inputs.has(referenceTo(value))) {
        body.inputs.set(referenceTo(value), value);
        read.push(value);
      }
    }
  }
  return read;
}

const isSmallConstant = (node: GraphNode): boolean => node.op === "Const" && elementsOf(node) <= maxConstant;

/** Appends a call for each body, and lets all nodes read the calls' outputs. */
function withCalls(nodes: readonly GraphNode[], bodies: readonly Body[]): readonly GraphNode[] {
  const moved = new Map<number, Value>();
  bodies.forEach(({ outputs }, at) => {
    for (const [output, node] of [...outputs].entries()) moved.set(node, { node: nodes.length + at, output });
  });
  const current = (value: Value): Value => moved.get(value.node) ?? value;
  const others = nodes.map((node, index): GraphNode => {
    if (moved.has(index)) return { op: "NoOp", inputs: [], attributes: {} };
    return { ...node, inputs: node.inputs.map(current) };
  });
  const calls = bodies.map((body): GraphNode => {
    const typeOf = ({ node, output }: Value): number => nodes[node]?.outputs?.[output]?.type as number;
    const value = functionOf(nodes, body, typeOf);
    return {
      op: "PartitionedCall",
      inputs: [...body.inputs.values()].map(current),
      attributes: {
        Tin: { kind: "types", value: value.inputs },
        Tout: { kind: "types", value: value.outputs.map(({ type }) => type) },
        f: { kind: "function", value },
        _XlaMustCompile: { kind: "bool", value: true },
      },
      outputs: [...body.outputs].map((node) => nodes[node]?.outputs?.[0] as OutputType),
    };
  });
  return [...others, ...calls];
}

function functionOf(nodes: readonly GraphNode[], body: Body, typeOf: (value: Value) => number): GraphFunction {
  const order = [...body.nodes].sort((a, b) => a - b);
  const names = [...body.inputs.keys()];
  const placeOf = new Map(order.map((index, place) => [index, place]));
  const sourceOf = (value: Value): FunctionValue => {
    const place = placeOf.get(value.node);
    if (place === undefined) return { argument: names.indexOf(referenceTo(value)) };
    return { node: place, output: outputNameOf(nodes[value.node] as GraphNode) };
  };
  const value = {
    inputs: [...body.inputs.values()].map(typeOf),
    outputs: [...body.outputs].map((node) => ({
      type: typeOf({ node, output: 0 }),
      from: sourceOf({ node, output: 0 }),
    })),
    nodes: order.map((index): FunctionNode => {
      const { op, inputs, attributes } = nodes[index] as GraphNode;
      return { op, inputs: inputs.map(sourceOf), attributes };
    }),
  };
  // Equal functions have one name, and TensorFlow compiles each name once per shape.
  const unnamed = {
    op: "NoOp",
    inputs: [],
    attributes: { f: { kind: "function", value: { name: "", ...value } } },
  } as const;
  return {
    name: `fused_${createHash("sha256")
      .update(savedModel([unnamed]))
      .digest("hex")
      .slice(0, 32)}`,
    ...value,
  };
}
