/** Groups a graph's elementwise operations so that each group can run as one operation. */
import type { GraphNode } from "../../../../adapters/saved-model/graph-def";
import { isElementwise, takesShape } from "./elementwise";

/** Elements from which a group is worth its call. */
const minElements = 8_192;
/** Length of the last axis from which XLA's inner loops are fast. */
const minInnermost = 64;
/** Bounds the time of the search and of the compilation. */
const maxMembers = 64;

export const elementsOf = ({ outputs }: GraphNode): number =>
  (outputs?.[0]?.shape ?? []).reduce((product, side) => product * side, 1);

/**
 * Groups nodes with equal numbers of elements, along the values that they pass on. A group can run as one operation: no
 * path leaves it and enters it again.
 *
 * @param nodes each after its inputs
 * @param kept nodes that stay by themselves
 * @returns the groups, and each node's group
 */
export function clusterNodes(
  nodes: readonly GraphNode[],
  kept: ReadonlySet<number>,
): (readonly number[] | undefined)[] {
  const clusterOf: (number[] | undefined)[] = nodes.map((node, index) =>
    !kept.has(index) && canJoin(nodes, node) ? [index] : undefined,
  );
  const search = new PathSearch(nodes, clusterOf);
  for (const [index, node] of nodes.entries()) {
    for (const { node: source } of node.inputs) {
      const [own, other] = [clusterOf[index], clusterOf[source]];
      if (own === undefined || other === undefined || own === other) continue;
      if (elementsOf(node) !== elementsOf(nodes[source] as GraphNode)) continue;
      const joined = [...other, ...own];
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

/** Looks for paths that leave a group of nodes and enter it again. */
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
