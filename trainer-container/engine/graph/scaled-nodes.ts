/**
 * Predicts a pass's nodes from two recordings with few rows: each number is equal in both or proportional to the rows.
 */
import type { GraphNode } from "../../../adapters/saved-model/graph-def";
import { integersOf } from "./builder";

export interface Sample {
  readonly nodes: readonly GraphNode[];
  readonly rows: number;
}

/** Returns the nodes with `rows` rows; undefined: they do not follow from the samples. */
export function scaledNodes(small: Sample, large: Sample, rows: number): readonly GraphNode[] | undefined {
  if (small.nodes.length !== large.nodes.length) return undefined;
  const scale = { small: small.rows, large: large.rows, rows };
  try {
    return large.nodes.map((node, index) =>
      scaled(comparable(small.nodes[index] as GraphNode), comparable(node), scale),
    );
  } catch (error) {
    if (error instanceof NotProportional) return undefined;
    throw error;
  }
}

/** A node as `scaledNodes` predicts it: with an integer constant's elements, and without those of another constant. */
export function comparable(node: GraphNode): GraphNode {
  const { value } = node.attributes;
  if (node.op !== "Const" || value?.kind !== "tensor") return node;
  return { ...node, attributes: { ...node.attributes, value: { kind: "ints", value: integersOf(node) ?? [] } } };
}

interface Scale {
  readonly small: number;
  readonly large: number;
  readonly rows: number;
}

class NotProportional extends Error {}

function scaled<T>(small: T, large: T, scale: Scale): T {
  if (typeof small === "number" && typeof large === "number") return scaledNumber(small, large, scale) as T;
  if (typeof small !== "object" || typeof large !== "object" || small === null || large === null) {
    if (small !== large) throw new NotProportional();
    return large;
  }
  const names = Object.keys(large) as (keyof T)[];
  if (names.length !== Object.keys(small).length) throw new NotProportional();
  const entries = names.map((name) => [name, scaled(small[name], large[name], scale)] as const);
  return (Array.isArray(large) ? entries.map(([, value]) => value) : Object.fromEntries(entries)) as T;
}

function scaledNumber(small: number, large: number, scale: Scale): number {
  if (Object.is(small, large)) return large;
  if (small * scale.large !== large * scale.small) throw new NotProportional();
  return (large * scale.rows) / scale.large;
}
