/** Operations that compute each row of their output from the same row of their inputs. A row is an index of the first axis. */
import type { Attribute, GraphNode, OutputType } from "../../../../adapters/saved-model/graph-def";
import { computesElements } from "./elementwise";

export interface RowInput {
  /** Whether it has one row for each row of the batch. Otherwise all rows use it. */
  readonly batched: boolean;
  readonly shape: readonly number[];
  /** Its elements, if it is a constant of int32. */
  readonly integers: readonly number[] | undefined;
}

type Rule = (inputs: readonly RowInput[], output: OutputType, node: GraphNode) => boolean;

/** Inputs that hold the shape of an output or of a batched input, by operation. */
const shapeInputs: Readonly<Record<string, number>> = {
  AvgPoolGrad: 0,
  BroadcastTo: 1,
  Conv2DBackpropInput: 0,
  DepthwiseConv2dNativeBackpropInput: 0,
  Reshape: 1,
  Slice: 2,
};

/** Returns the position of the input that holds a shape with the number of rows; -1: there is none. */
export const shapeInputOf = ({ op }: GraphNode): number => shapeInputs[op] ?? -1;

const only =
  (...batched: readonly boolean[]): Rule =>
  (inputs) =>
    inputs.length === batched.length && inputs.every((input, index) => input.batched === batched[index]);
const firstOnly = only(true, false);
const all: Rule = (inputs) => inputs.every(({ batched }) => batched);

/** A shared operand must not reach the first axis by broadcasting. */
const elementwise: Rule = (inputs, { shape }) =>
  inputs.every((input) =>
    input.batched
      ? input.shape.length === shape.length
      : input.shape.length < shape.length || (input.shape.length === shape.length && input.shape[0] === 1),
  );

const isSet = ({ attributes }: GraphNode, name: string): boolean => {
  const attribute = attributes[name];
  return attribute?.kind === "bool" && attribute.value;
};

/** The product of a row and a shared matrix, or of two matrices of the same row. */
const product: Rule = (inputs, _, node) => {
  const [left, right] = inputs;
  if (left?.batched !== true || right === undefined) return false;
  if (right.batched) return node.op === "BatchMatMulV2" && left.shape.length > 2 && right.shape.length > 2;
  const mixesRows = left.shape.length === 2 && (isSet(node, "transpose_a") || isSet(node, "adj_x"));
  return !mixesRows && (left.shape.length === 2 || right.shape.length < left.shape.length);
};

const outerAxes =
  (axesAt: number): Rule =>
  (inputs) => {
    const [data] = inputs;
    const axes = inputs[axesAt]?.integers;
    if (data?.batched !== true || axes === undefined || axes.length === 0) return false;
    return axes.every((axis) => (axis < 0 ? axis + data.shape.length : axis) > 0);
  };

/** The rows stay rows: their number is first in the constant shape, and nothing moves between them. */
const keepsRows =
  (shapeAt: number): Rule =>
  (inputs, output) => {
    const shape = inputs[shapeAt]?.integers;
    const [rows] = output.shape;
    return (
      shape !== undefined && shape[0] === rows && inputs.every(({ batched }, index) => batched === (index !== shapeAt))
    );
  };

const convolutionGradient: Rule = (inputs, { shape }) =>
  inputs[0]?.integers?.[0] === shape[0] && inputs[1]?.batched === false && inputs[2]?.batched === true;

/** A function of elementwise operations, whose constants are the same for all rows. */
const elementwiseCall: Rule = (inputs, output, { attributes: { f }, outputs = [] }) =>
  f?.kind === "function" &&
  f.value.nodes.every(
    (each) =>
      computesElements(each) || (each.op === "Const" && isSharedConstant(each.attributes["value"], output.shape)),
  ) &&
  outputs.every(({ shape }) => shape.length === output.shape.length && shape[0] === output.shape[0]) &&
  elementwise(inputs, output, { op: "", inputs: [], attributes: {} });

const isSharedConstant = (value: Attribute | undefined, shape: readonly number[]): boolean =>
  value?.kind === "tensor" && (value.value.shape.length < shape.length || value.value.shape[0] === 1);

const rules: Readonly<Record<string, Rule>> = {
  _MklNativeMaxPool: only(true),
  _MklNativeMaxPoolGrad: all,
  ArgMax: outerAxes(1),
  AvgPool: only(true),
  AvgPoolGrad: (inputs, { shape }) => inputs[0]?.integers?.[0] === shape[0] && inputs[1]?.batched === true,
  BatchMatMulV2: product,
  Conv2D: firstOnly,
  Conv2DBackpropInput: convolutionGradient,
  DepthwiseConv2dNative: firstOnly,
  DepthwiseConv2dNativeBackpropInput: convolutionGradient,
  ExpandDims: outerAxes(1),
  Identity: only(true),
  LogSoftmax: (inputs) => inputs[0]?.batched === true && inputs[0].shape.length > 1,
  MatMul: product,
  Max: outerAxes(1),
  MaxPool: only(true),
  MaxPoolGrad: all,
  Mean: outerAxes(1),
  PartitionedCall: elementwiseCall,
  Reshape: keepsRows(1),
  RingmasterMaxPoolGrad: all,
  RingmasterDense: (inputs) => inputs.every(({ batched }, index) => batched === (index === 0)),
  RingmasterDenseGradient: (inputs) => inputs.every(({ batched }, index) => batched === (index !== 1)),
  Softmax: (inputs) => inputs[0]?.batched === true && inputs[0].shape.length > 1,
  SparseSoftmaxCrossEntropyWithLogits: all,
  Sum: outerAxes(1),
  Tile: (inputs) => inputs[0]?.batched === true && inputs[1]?.integers?.[0] === 1,
  Transpose: (inputs) => inputs[0]?.batched === true && inputs[1]?.integers?.[0] === 0,
};

/** Whether a node computes each row alone: its first output has as many rows as the inputs that are batched. */
export function computesRows(node: GraphNode, inputs: readonly RowInput[]): boolean {
  const output = node.outputs?.[0];
  if (output === undefined) return false;
  const rule = rules[node.op] ?? (computesElements(node) ? elementwise : undefined);
  return rule?.(inputs, output, node) === true;
}
