import type { Attribute, GraphNode, Value } from "../../../../adapters/saved-model/graph-def";
import { readerCounts } from "./own-products";

/**
 * Replaces oneDNN's gradients of maxima over windows that do not overlap and cover the image by operations of our own
 * (`scripts/native/operations/pools.cc`), joined with the gradient of a ReLU before the windows. The nodes keep their positions.
 *
 * @param nodes each after its inputs
 * @param fetched values that callers read
 */
export function useOwnPools(nodes: readonly GraphNode[], fetched: readonly Value[]): readonly GraphNode[] {
  const all = [...nodes];
  const readers = readerCounts(nodes, fetched);
  for (const [index, node] of nodes.entries()) {
    const replaced = ownGradient(nodes, node) ?? withRelu(all, node, readers);
    if (replaced) all[index] = { ...replaced, outputs: node.outputs ?? [] };
  }
  return all;
}

function ownGradient(nodes: readonly GraphNode[], { op, inputs, attributes }: GraphNode): GraphNode | undefined {
  if (op !== "_MklNativeMaxPoolGrad") return undefined;
  const [image, result, gradient] = inputs as readonly [Value, Value, Value];
  const [sizes, strides] = [integersOf(attributes["ksize"]), integersOf(attributes["strides"])];
  const shape = nodes[image.node]?.outputs?.[image.output]?.shape;
  if (shape?.length !== 4 || sizes?.length !== 4 || sizes.join() !== strides?.join()) return undefined;
  if (shape.some((side, axis) => side % (sizes[axis] as number) !== 0)) return undefined;
  const [, height, width] = sizes as readonly [number, number, number, number];
  return {
    op: "RingmasterMaxPoolGrad",
    inputs: [image, result, gradient],
    attributes: {
      height: { kind: "int", value: height },
      width: { kind: "int", value: width },
      relu: { kind: "bool", value: false },
    },
  };
}

/** Returns the operation for the gradient of the ReLU whose result the windows read. */
function withRelu(
  nodes: readonly GraphNode[],
  { op, inputs }: GraphNode,
  readers: ReadonlyMap<number, number>,
): GraphNode | undefined {
  const [gradient, features] = inputs as readonly [Value?, Value?];
  const pool = gradient && nodes[gradient.node];
  if (op !== "ReluGrad" || features === undefined || pool?.op !== "RingmasterMaxPoolGrad") return undefined;
  const image = pool.inputs[0] as Value;
  const relu = nodes[image.node] as GraphNode;
  const isOf = [image, ...(relu.op === "Relu" ? relu.inputs : [])].some((value) => isSame(value, features));
  if (!isOf || readers.get(gradient?.node as number) !== 1) return undefined;
  return { ...pool, attributes: { ...pool.attributes, relu: { kind: "bool", value: true } } };
}

const isSame = (a: Value, b: Value): boolean => a.node === b.node && a.output === b.output;

const integersOf = (attribute: Attribute | undefined): readonly number[] | undefined =>
  attribute?.kind === "ints" ? attribute.value : undefined;
