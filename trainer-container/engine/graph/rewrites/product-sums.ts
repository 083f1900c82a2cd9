import type { GraphNode, Value } from "../../../../core/saved-model/graph-def";

/**
 * Replaces sums of weights' gradients, which are products of matrices, by `RingmasterProductSum` (`scripts/native/operations/sums.cc`).
 * It exists on some CPUs only, and a product may have other bits than TensorFlow's.
 */
export function joinProductsAndSums(nodes: readonly GraphNode[]): readonly GraphNode[] {
  return nodes.map((node) => {
    if (node.op !== "RingmasterTreeSum") return node;
    const products = node.inputs.map((term) => productOf(nodes, term));
    const factors = [0, 1].flatMap((side) => products.map((product) => product?.inputs[side]));
    return factors.every(isValue) ? { ...node, op: "RingmasterProductSum", inputs: factors } : node;
  });
}

const isValue = (value: Value | undefined): value is Value => value !== undefined;

/** Returns the product of a transposed matrix and a matrix that a value is, in any shape. */
function productOf(nodes: readonly GraphNode[], { node }: Value): GraphNode | undefined {
  const found = nodes[node] as GraphNode;
  if (found.op === "Reshape") return productOf(nodes, found.inputs[0] as Value);
  if (found.outputs?.[0]?.shape.length !== 2) return undefined;
  const isSet = (name: string) => {
    const attribute = found.attributes[name];
    return attribute?.kind === "bool" && attribute.value;
  };
  if (found.op === "BatchMatMulV2") return isSet("adj_x") && !isSet("adj_y") ? found : undefined;
  if (found.op === "MatMul") return isSet("transpose_a") && !isSet("transpose_b") ? found : undefined;
  return undefined;
}
