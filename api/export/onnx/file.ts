/** An ONNX file (onnx/onnx, `onnx/onnx.proto`): field numbers are the schema's. */
import {
  bytesField,
  floatField,
  joined,
  type Message,
  message,
  messageField,
  textField,
  varintField,
} from "../../../adapters/saved-model/protobuf";

/** IR 8 came with opset 17, which onnxruntime 1.12 (2022) and all later versions read. */
const irVersion = 8;
const opset = 17;
/** Opset of `ai.onnx.ml`, which has LabelEncoder. */
const mlOpset = 3;

const elementCodes = { float: 1, int64: 7, string: 8, bool: 9, double: 11 } as const;
export type ElementType = keyof typeof elementCodes;

export type TensorValue = { readonly dims: readonly number[] } & (
  | { readonly type: "float"; readonly data: Float32Array }
  | { readonly type: "double"; readonly data: Float64Array }
  | { readonly type: "int64"; readonly data: BigInt64Array }
  | { readonly type: "bool"; readonly data: Uint8Array }
  | { readonly type: "string"; readonly data: readonly string[] }
);

export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly floats: readonly number[] }
  | { readonly texts: readonly string[] };

export interface Operation {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** `com.microsoft` are the operators of onnxruntime; absent for ONNX's own. */
  readonly domain?: "ai.onnx.ml" | "com.microsoft";
}

/** A graph's input or output; the batch axis is a name (`"rows"`). */
export interface Port {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly (number | string)[];
}

export interface OnnxGraph {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly constants: Readonly<Record<string, TensorValue>>;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Encodes a graph. Equal graphs give equal bytes. */
export function encodeOnnx(graph: OnnxGraph): Uint8Array {
  const uses = (wanted: Operation["domain"]): boolean => graph.operations.some(({ domain }) => domain === wanted);
  return joined(
    message(
      varintField(1, irVersion),
      textField(2, "ringmaster"),
      messageField(7, graphMessage(graph)),
      messageField(8, message(textField(1, ""), varintField(2, opset))),
      ...(uses("ai.onnx.ml") ? [messageField(8, message(textField(1, "ai.onnx.ml"), varintField(2, mlOpset)))] : []),
      ...(uses("com.microsoft") ? [messageField(8, message(textField(1, "com.microsoft"), varintField(2, 1)))] : []),
      ...Object.entries(graph.metadata).map(([key, value]) =>
        messageField(14, message(textField(1, key), textField(2, value))),
      ),
    ),
  );
}

function graphMessage({ name, operations, constants, inputs, outputs }: OnnxGraph): Message {
  return message(
    ...operations.map((operation, index) => messageField(1, nodeMessage(operation, index))),
    textField(2, name),
    ...Object.entries(constants).map(([constant, value]) => messageField(5, tensorMessage(constant, value))),
    ...inputs.map((port) => messageField(11, portMessage(port))),
    ...outputs.map((port) => messageField(12, portMessage(port))),
  );
}

function nodeMessage({ op, inputs, outputs, attributes, domain }: Operation, index: number): Message {
  return message(
    ...inputs.map((name) => textField(1, name)),
    ...outputs.map((name) => textField(2, name)),
    textField(3, `${index}_${op}`),
    textField(4, op),
    ...Object.entries(attributes).map(([name, value]) => messageField(5, attributeMessage(name, value))),
    ...(domain ? [textField(7, domain)] : []),
  );
}

function attributeMessage(name: string, value: Attribute): Message {
  const [type, ...fields] = attributeFields(value);
  return message(textField(1, name), ...fields, varintField(20, type));
}

function attributeFields(value: Attribute): readonly [type: number, ...Message[]] {
  if ("float" in value) return [1, floatField(2, value.float)];
  if ("int" in value) return [2, varintField(3, value.int)];
  if ("text" in value) return [3, textField(4, value.text)];
  if ("floats" in value) return [6, ...value.floats.map((each) => floatField(7, each))];
  if ("ints" in value) return [7, ...value.ints.map((each) => varintField(8, each))];
  return [8, ...value.texts.map((each) => textField(9, each))];
}

function tensorMessage(name: string, value: TensorValue): Message {
  return message(
    ...value.dims.map((dim) => varintField(1, dim)),
    varintField(2, elementCodes[value.type]),
    ...(value.type === "string" ? value.data.map((each) => textField(6, each)) : []),
    textField(8, name),
    // Little-endian, like every machine on which this runs.
    ...(value.type === "string"
      ? []
      : [bytesField(9, new Uint8Array(value.data.buffer, value.data.byteOffset, value.data.byteLength))]),
  );
}

function portMessage({ name, type, dims }: Port): Message {
  const shape = dims.map((dim) => messageField(1, typeof dim === "number" ? varintField(1, dim) : textField(2, dim)));
  const tensorType = message(varintField(1, elementCodes[type]), messageField(2, message(...shape)));
  return message(textField(1, name), messageField(2, messageField(1, tensorType)));
}
