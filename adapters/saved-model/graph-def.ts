/**
 * Writes operations as a SavedModel's `saved_model.pb` (tensorflow/core/protobuf/saved_model.proto, meta_graph.proto,
 * tensorflow/core/framework/graph.proto, node_def.proto, attr_value.proto, tensor.proto).
 */
import {
  bytesField,
  floatField,
  joined,
  type Message,
  message,
  messageField,
  textField,
  varintField,
} from "./protobuf";

export interface Value {
  readonly node: number;
  readonly output: number;
}

/** Element types by the numbers of types.proto. */
export const elementTypes = { float: 1, double: 2, int32: 3, string: 7, int64: 9, bool: 10 } as const;
export type ElementType = keyof typeof elementTypes;

export type Attribute =
  | { readonly kind: "type" | "int"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "shape"; readonly value: readonly number[] }
  | { readonly kind: "ints" | "floats" | "types"; readonly value: readonly number[] }
  | { readonly kind: "function"; readonly value: GraphFunction }
  | {
      readonly kind: "tensor";
      readonly value: { readonly type: number; readonly shape: readonly number[]; readonly bytes: Uint8Array };
    }
  | {
      readonly kind: "texts";
      readonly value: { readonly shape: readonly number[]; readonly texts: readonly string[] };
    };

/** Operations that one node calls. Functions with equal names must be equal. */
export interface GraphFunction {
  readonly name: string;
  /** Element types of the arguments. */
  readonly inputs: readonly number[];
  readonly outputs: readonly { readonly type: number; readonly from: FunctionValue }[];
  readonly nodes: readonly FunctionNode[];
}

/** An argument of a function, or the only output of a node in it, by the output's name in the operation's definition. */
export type FunctionValue = { readonly argument: number } | { readonly node: number; readonly output: string };

export interface FunctionNode {
  readonly op: string;
  readonly inputs: readonly FunctionValue[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface OutputType {
  readonly type: number;
  readonly shape: readonly number[];
}

/** One operation. Its position in the graph is its name. */
export interface GraphNode {
  readonly op: string;
  readonly inputs: readonly Value[];
  /** Nodes that run before this one. */
  readonly control?: readonly number[];
  /**
   * The node whose place this one takes for its readers. Its name is sorted like that node's: TensorFlow's optimizer sorts
   * factors and terms by their names, and the bits depend on that order.
   */
  readonly copyOf?: number;
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** Whether it computes in float32 whatever a run's precision is. It is not written. */
  readonly exact?: boolean;
  /** Type and shape of each output, where they are known. They are not written. */
  readonly outputs?: readonly OutputType[];
}

/** A named tensor of a signature. A size of -1 means any size. */
export interface SignaturePort {
  readonly name: string;
  readonly value: Value;
  readonly type: ElementType;
  readonly shape: readonly number[];
}

export interface Signature {
  readonly inputs: readonly SignaturePort[];
  readonly outputs: readonly SignaturePort[];
}

/** Version of graphs' meaning (`GRAPH_DEF_VERSION`), at least as old as the oldest library that reads them. */
const producer = 987;
export const tag = "serve";

/**
 * Returns a node's name. TensorFlow's graph optimizer orders some operands by the names of their nodes. With equally long names
 * this order is that of the positions, wherever in a graph the nodes are.
 */
const nameOf = (node: number): string => `n${String(node).padStart(7, "0")}`;
export const referenceTo = ({ node, output }: Value): string => `${nameOf(node)}:${output}`;

/** Returns the bytes of a `saved_model.pb` without variables. The signature is named `serving_default`. */
export function savedModel(nodes: readonly GraphNode[], signature?: Signature): Uint8Array {
  // A full stop comes before all digits.
  const names = nodes.map(({ copyOf }, index) => (copyOf === undefined ? nameOf(index) : `${nameOf(copyOf)}.${index}`));
  const graph = message(
    ...nodes.map((node, index) => messageField(1, nodeDef(node, index, names))),
    messageField(2, functionLibrary(nodes)),
    messageField(4, varintField(1, producer)),
  );
  const signatures = signature ? [messageField(5, mapEntry("serving_default", signatureDef(signature)))] : [];
  const metaGraph = message(messageField(1, textField(4, tag)), messageField(2, graph), ...signatures);
  return joined(message(varintField(1, 1), messageField(2, metaGraph)));
}

function signatureDef({ inputs, outputs }: Signature): Message {
  return message(
    ...inputs.map((port) => messageField(1, mapEntry(port.name, tensorInfo(port)))),
    ...outputs.map((port) => messageField(2, mapEntry(port.name, tensorInfo(port)))),
    textField(3, "tensorflow/serving/predict"),
  );
}

function tensorInfo({ value, type, shape }: SignaturePort): Message {
  return message(
    textField(1, referenceTo(value)),
    varintField(2, elementTypes[type]),
    messageField(3, shapeProto(shape)),
  );
}

function mapEntry(key: string, value: Message): Message {
  return message(textField(1, key), messageField(2, value));
}

function nodeDef(
  { op, inputs, control = [], attributes }: GraphNode,
  index: number,
  names: readonly string[],
): Message {
  return message(
    textField(1, names[index] as string),
    textField(2, op),
    ...inputs.map(({ node, output }) => textField(3, `${names[node]}:${output}`)),
    ...control.map((node) => textField(3, `^${names[node]}`)),
    ...Object.entries(attributes).map(([name, value]) => messageField(5, mapEntry(name, attributeValue(value)))),
  );
}

/** Returns the functions that the nodes call (tensorflow/core/framework/function.proto, op_def.proto). */
function functionLibrary(nodes: readonly GraphNode[]): Message {
  const functions = new Map<string, GraphFunction>();
  for (const { attributes } of nodes) {
    for (const attribute of Object.values(attributes)) {
      if (attribute.kind === "function") functions.set(attribute.value.name, attribute.value);
    }
  }
  return message(...[...functions.values()].map((each) => messageField(1, functionDef(each))));
}

function functionDef({ name, inputs, outputs, nodes }: GraphFunction): Message {
  const nameOfValue = (value: FunctionValue): string =>
    "argument" in value ? `argument${value.argument}` : `${nameOf(value.node)}:${value.output}:0`;
  const port = (portName: string, type: number) => message(textField(1, portName), varintField(3, type));
  const signature = message(
    textField(1, name),
    ...inputs.map((type, index) => messageField(2, port(`argument${index}`, type))),
    ...outputs.map(({ type }, index) => messageField(3, port(`output${index}`, type))),
  );
  const body = nodes.map(({ op, inputs: sources, attributes }, index) =>
    message(
      textField(1, nameOf(index)),
      textField(2, op),
      ...sources.map((source) => textField(3, nameOfValue(source))),
      ...Object.entries(attributes).map(([key, value]) => messageField(5, mapEntry(key, attributeValue(value)))),
    ),
  );
  return message(
    messageField(1, signature),
    ...body.map((node) => messageField(3, node)),
    ...outputs.map(({ from }, index) =>
      messageField(4, message(textField(1, `output${index}`), textField(2, nameOfValue(from)))),
    ),
  );
}

function attributeValue(attribute: Attribute): Message {
  switch (attribute.kind) {
    case "string":
      return textField(2, attribute.value);
    case "int":
      return varintField(3, attribute.value);
    case "float":
      return floatField(4, attribute.value);
    case "bool":
      return varintField(5, attribute.value ? 1 : 0);
    case "type":
      return varintField(6, attribute.value);
    case "shape":
      return messageField(7, shapeProto(attribute.value));
    case "tensor": {
      const { type, shape, bytes } = attribute.value;
      return messageField(8, message(varintField(1, type), messageField(2, shapeProto(shape)), bytesField(4, bytes)));
    }
    case "texts": {
      const { shape, texts } = attribute.value;
      const type = varintField(1, elementTypes.string);
      const values = texts.map((each) => textField(8, each));
      return messageField(8, message(type, messageField(2, shapeProto(shape)), ...values));
    }
    case "ints":
      return messageField(1, message(...attribute.value.map((value) => varintField(3, value))));
    case "types":
      return messageField(1, message(...attribute.value.map((value) => varintField(6, value))));
    case "function":
      return messageField(10, textField(1, attribute.value.name));
    case "floats":
      return messageField(1, message(...attribute.value.map((value) => floatField(4, value))));
  }
}

function shapeProto(shape: readonly number[]): Message {
  return message(...shape.map((size) => messageField(2, varintField(1, size))));
}
