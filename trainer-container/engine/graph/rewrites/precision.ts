/**
 * Rounds factors and results of products and convolutions to 16 bits, as PyTorch's autocast; all else stays float32. A
 * CPU's float32 kernels compute with rounded values: how its 16-bit kernels add depends on instruction sets.
 */

import { type Attribute, type GraphNode, referenceTo, type Value } from "../../../../adapters/saved-model/graph-def";
import type { NarrowPrecision } from "../../../../core/runs/hyperparameters";
import { float32 } from "../builder";

/** Element types by the numbers of types.proto. */
const types: Readonly<Record<NarrowPrecision, number>> = { bfloat16: 14, float16: 19 };

const products: ReadonlySet<string> = new Set([
  "BatchMatMul",
  "BatchMatMulV2",
  "BatchMatMulV3",
  "Conv2D",
  "Conv2DBackpropFilter",
  "Conv2DBackpropInput",
  "Conv3D",
  "Conv3DBackpropFilterV2",
  "Conv3DBackpropInputV2",
  "DepthwiseConv2dNative",
  "DepthwiseConv2dNativeBackpropFilter",
  "DepthwiseConv2dNativeBackpropInput",
  "MatMul",
]);
/** Operations that contain matrix products and stay float32: TensorFlow has no bfloat16 kernels for them. */
export const unroundedProducts = ["BlockLSTMV2", "BlockLSTMGradV2", "LSTMBlockCellGrad"] as const;
/** Inputs that are shapes, by operation. */
const shapeInputs: Readonly<Record<string, number>> = {
  Conv2DBackpropFilter: 1,
  Conv2DBackpropInput: 0,
  Conv3DBackpropFilterV2: 1,
  Conv3DBackpropInputV2: 0,
  DepthwiseConv2dNativeBackpropFilter: 1,
  DepthwiseConv2dNativeBackpropInput: 0,
};

const typed = (value: number): Attribute => ({ kind: "type", value });

/** Returns a graph with rounded products. The nodes keep their positions; new ones are appended. */
export function roundProducts(
  nodes: readonly GraphNode[],
  precision: NarrowPrecision,
  gpu: boolean,
): readonly GraphNode[] {
  const type = types[precision];
  const all = [...nodes];
  const rounded = new Map<string, Value>();
  const append = (node: GraphNode): Value => ({ node: all.push(node) - 1, output: 0 });
  const cast = (value: Value, from: number, to: number): GraphNode => ({
    op: "Cast",
    inputs: [value],
    attributes: { SrcT: typed(from), DstT: typed(to), Truncate: { kind: "bool", value: false } },
  });
  /** Returns a factor with 16 bits; on a CPU in float32 again. */
  const factor = (value: Value): Value => {
    const name = referenceTo(value);
    const cached = rounded.get(name);
    if (cached) return cached;
    const narrow = append(cast(value, float32, type));
    const result = gpu ? narrow : append(cast(narrow, type, float32));
    rounded.set(name, result);
    return result;
  };
  for (const [index, node] of nodes.entries()) {
    const { T } = node.attributes;
    if (!products.has(node.op) || node.exact || T?.kind !== "type" || T.value !== float32) continue;
    const inputs = node.inputs.map((input, at) => (shapeInputs[node.op] === at ? input : factor(input)));
    const attributes = gpu ? { ...node.attributes, T: typed(type) } : node.attributes;
    const product = append({ op: node.op, inputs, attributes, ...(node.control ? { control: node.control } : {}) });
    const narrow = gpu ? product : append(cast(product, float32, type));
    all[index] = { ...cast(narrow, type, float32), ...(node.outputs ? { outputs: node.outputs } : {}) };
  }
  return all;
}
