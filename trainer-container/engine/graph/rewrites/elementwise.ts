/** The operations that one loop over elements can compute, with the names of their outputs in TensorFlow's definitions. */
import type { GraphNode } from "../../../../adapters/saved-model/graph-def";

const outputNames: Readonly<Record<string, string>> = {
  Abs: "y",
  Add: "z",
  AddV2: "z",
  BiasAdd: "output",
  Cast: "y",
  Equal: "z",
  Erf: "y",
  Exp: "y",
  Expm1: "y",
  Greater: "z",
  GreaterEqual: "z",
  Less: "z",
  LessEqual: "z",
  Log: "y",
  Log1p: "y",
  LogicalAnd: "z",
  LogicalNot: "y",
  LogicalOr: "z",
  Maximum: "z",
  Minimum: "z",
  Mul: "z",
  Neg: "y",
  NotEqual: "z",
  RealDiv: "z",
  Relu: "activations",
  Relu6: "activations",
  Relu6Grad: "backprops",
  ReluGrad: "backprops",
  Rsqrt: "y",
  Select: "output",
  SelectV2: "output",
  Sigmoid: "y",
  SigmoidGrad: "z",
  Sign: "y",
  Sqrt: "y",
  Square: "y",
  SquaredDifference: "z",
  Sub: "z",
  Tanh: "y",
  TanhGrad: "z",
};

/** Operations that give elements another shape. They cost nothing inside a loop. */
const shapeNames: Readonly<Record<string, string>> = {
  BroadcastTo: "output",
  ExpandDims: "output",
  Reshape: "output",
};

export const computesElements = ({ op }: Pick<GraphNode, "op">): boolean => op in outputNames;

export const isElementwise = ({ op }: GraphNode): boolean => op in outputNames || op in shapeNames;

export const takesShape = ({ op }: GraphNode): boolean => op in shapeNames;

/** Whether TensorFlow gives the output the memory of the first input. */
export const sharesInput = ({ op, attributes }: GraphNode): boolean =>
  op === "Reshape" || op === "ExpandDims" || (op === "Cast" && isSameType(attributes));

function isSameType({ SrcT, DstT }: GraphNode["attributes"]): boolean {
  return SrcT?.kind === "type" && DstT?.kind === "type" && SrcT.value === DstT.value;
}

/** Returns the name of the only output, or of a constant's. */
export const outputNameOf = ({ op }: GraphNode): string => outputNames[op] ?? shapeNames[op] ?? "output";
