import { unsupportedOperator } from "../../../core/export";
import type { Attribute, TensorValue } from "../onnx/file";
import type { NodeBuilder, Tensor } from "./node-builder";

/** An ONNX operation to be translated. */
export interface Translation {
  readonly builder: NodeBuilder;
  readonly op: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly inputs: readonly Tensor[];
  /** The values of inputs that are constants. */
  readonly constants: readonly (TensorValue | undefined)[];
}

export type Translator = (translation: Translation) => Tensor;

export function integer(attribute: Attribute | undefined, otherwise: number): number {
  return attribute && "int" in attribute ? attribute.int : otherwise;
}

export function float(attribute: Attribute | undefined, otherwise: number): number {
  return attribute && "float" in attribute ? attribute.float : otherwise;
}

export function integerList(attribute: Attribute | undefined): readonly number[] | undefined {
  return attribute && "ints" in attribute ? attribute.ints : undefined;
}

export function textList(attribute: Attribute | undefined): readonly string[] {
  return attribute && "texts" in attribute ? attribute.texts : [];
}

/** @throws EXPORT_UNSUPPORTED if the input is not a constant list of integers */
export function constantIntegers(op: string, value: TensorValue | undefined): readonly number[] {
  if (value?.type === "int64") return Array.from(value.data, Number);
  throw unsupportedOperator(op, "an input that must be constant is not");
}
