/**
 * Records TensorFlow.js's operations as *nodes* and its tensors as *values*. Inputs become placeholders, other created
 * tensors constants. Operations run as usual (`RecomputedTensors`).
 * An *obstacle* is a reason why the nodes are not the whole pass, e.g. an `if` that reads a value; the pass still goes
 * on. A recording can *repeat* expected nodes, and then runs none (`ShapesOnly`).
 */
import { isDeepStrictEqual } from "node:util";
import * as tf from "@tensorflow/tfjs-core";
import type { Attribute, GraphNode, OutputType, Value } from "../../../adapters/saved-model/graph-def";
import { RecordingDiffers } from "../errors";
import { isExact } from "../layers/exact";
import type { NativeBackend, OpAttribute } from "../native/operations";
import type { NativeBinding } from "../native-binding";
import { type ComputationObserver, observing } from "../user-code";
import {
  type Created,
  intercept,
  type PassTensors,
  RecomputedTensors,
  ShapesOnly,
  type TensorFunctions,
} from "./pass-tensors";

export interface Recording<T> {
  readonly result: T;
  readonly placeholders: readonly Value[];
  readonly nodes: readonly GraphNode[];
  /** The first obstacle, with the stack of its place; undefined: the nodes are the whole pass. */
  readonly obstacle: Error | undefined;
  /** Numbers of nodes before the ends of layers' calls. */
  readonly ends: readonly number[];
  /** The ends at which the pass is cut. */
  readonly cuts: readonly number[];
}

/** Decides whether a pass is cut at the end of a layer's call. @param index position of the end among all */
export type IsCut = (layer: string, index: number) => boolean;

/** Operations whose type TensorFlow.js leaves to eager execution to infer. */
const inferredFromInput: Readonly<Record<string, string>> = { ExpandDims: "T", Where: "T" };

/** Operations with a state or random numbers of their own: a graph would not repeat what was recorded. */
const stateful = /^(Random|Multinomial|ParameterizedTruncatedNormal|Stateful|Print|Write|.*Summary)/;

/** Operations whose results' shapes depend on values: code may have read a shape that other values would change. */
const shapedByValues = /^(Unique|NonMaxSuppression|SparseFillEmptyRows|RaggedRange|StringSplit)/;

interface ExpectedNodes {
  readonly nodes: readonly GraphNode[];
  /** Returns a recorded node in the form of the expected one. Default: as it is. */
  readonly form?: (node: GraphNode) => GraphNode;
}

export interface RecorderOptions {
  /** Places where the forward pass's values since the last cut are freed, see `RecomputedTensors`. Default: none. */
  readonly isCut?: IsCut;
  /** The pass then computes nothing, so its result must not contain tensors. */
  readonly expected?: ExpectedNodes;
}

export class Recorder implements ComputationObserver {
  private readonly nodes: GraphNode[] = [];
  /** By the binding's tensor numbers, which are never used twice. */
  private readonly values = new Map<number, Value>();
  private readonly ends: number[] = [];
  private readonly cuts: number[] = [];
  private obstacle: Error | undefined;
  private readonly tensors: PassTensors;
  private readonly isCut: IsCut;
  private readonly expected: ExpectedNodes | undefined;
  private readonly binding: NativeBinding;
  /** Returns the numbers of tensors, without recording those that are unknown. */
  private readonly numbersOf: NativeBackend["getInputTensorIds"];

  constructor(
    private readonly backend: NativeBackend,
    { isCut = () => false, expected }: RecorderOptions = {},
  ) {
    const { binding } = backend;
    this.binding = binding;
    this.isCut = isCut;
    this.expected = expected;
    this.numbersOf = backend.getInputTensorIds.bind(backend);
    this.tensors = expected
      ? new ShapesOnly(binding, () => expected.nodes[this.nodes.length])
      : new RecomputedTensors(binding);
  }

  /**
   * Runs the synchronous `body` and records it; `inputs` are tensors that the graph takes instead of values.
   * @throws RecordingDiffers at the first node that is not the expected one
   */
  record<T>(inputs: readonly tf.Tensor[], body: (recorder: Recorder) => T): Recording<T> {
    const placeholders = inputs.map((tensor) => this.addPlaceholder(tensor));
    const interception = {
      functions: this.recordingFunctions(),
      getInputTensorIds: (tensors: readonly tf.TensorInfo[]) => this.recordedNumbersOf(tensors),
      onRandom: () => this.noteObstacle("it draws random numbers in JavaScript"),
    };
    // Tensors are disposed before the interception ends, because some exist for the recorder only.
    const tidyBody = () => tf.tidy(() => body(this) as tf.TensorContainer) as T;
    const result = intercept(this.backend, interception, () => observing(this, tidyBody));
    if (this.expected && this.nodes.length < this.expected.nodes.length) throw new RecordingDiffers();
    if (this.tensors.finish()) this.noteObstacle("it keeps a tensor after a call");
    const { nodes, obstacle, ends, cuts } = this;
    return { result, placeholders, nodes, obstacle, ends, cuts };
  }

  valueOf(tensor: tf.Tensor): Value {
    const [id = -1] = this.recordedNumbersOf([tensor]);
    return this.values.get(id) as Value;
  }

  leaveLayer(layer: string, outputs: readonly tf.Tensor[]): void {
    this.ends.push(this.nodes.length);
    if (!this.isCut(layer, this.ends.length - 1)) return;
    this.tensors.endSegment(this.numbersOf(outputs));
    this.cuts.push(this.nodes.length);
  }

  /** Notes an obstacle. The first one counts. */
  private noteObstacle(reason: string): void {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 50; // the user's code is below many frames of TensorFlow.js
    this.obstacle ??= new Error(reason);
    Error.stackTraceLimit = stackTraceLimit;
  }

  private recordingFunctions(): TensorFunctions {
    const { tensors } = this;
    return {
      createTensor: (shape, type, values) => {
        const id = tensors.createTensor(shape, type, values);
        this.addConstant(id, shape, type, values);
        return id;
      },
      tensorDataSync: (id) => {
        this.noteObstacle("it reads a value in the middle");
        return tensors.tensorDataSync(id);
      },
      deleteTensor: (id) => tensors.deleteTensor(id),
      executeOp: (op, attributes, inputs, outputs) => {
        const created = tensors.executeOp(op, attributes, inputs, outputs);
        this.addOperation(op, attributes as readonly OpAttribute[], inputs, created);
        return created;
      },
    };
  }

  /** Returns the numbers of tensors. Those that were created before the recording become constants. */
  private recordedNumbersOf(tensors: readonly tf.TensorInfo[]): number[] {
    const ids = this.numbersOf(tensors);
    ids.forEach((id, index) => {
      if (!this.values.has(id)) this.addEarlier(id, tensors[index]?.shape ?? []);
    });
    return ids;
  }

  private addEarlier(id: number, shape: readonly number[]): void {
    const values = this.binding.tensorDataSync(id);
    const type = values instanceof Int32Array ? this.binding.TF_INT32 : this.binding.TF_FLOAT;
    if (values instanceof Float32Array || values instanceof Int32Array) this.addConstant(id, shape, type, values);
    else this.noteObstacle("it uses a tensor that was created before and holds no numbers");
  }

  private addPlaceholder(tensor: tf.Tensor): Value {
    const { TF_INT32, TF_FLOAT } = this.binding;
    const { shape } = tensor;
    const type = tensor.dtype === "int32" ? TF_INT32 : TF_FLOAT;
    const attributes = { dtype: { kind: "type", value: type }, shape: { kind: "shape", value: shape } } as const;
    const value = this.add("Placeholder", [], attributes, [{ type, shape }]);
    const [id = -1] = this.numbersOf([tensor]);
    this.values.set(id, value);
    return value;
  }

  private addConstant(id: number, shape: readonly number[], type: number, values: unknown): void {
    if (!ArrayBuffer.isView(values)) {
      this.noteObstacle("it creates tensors that hold no numbers");
      return;
    }
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
    const attributes = {
      dtype: { kind: "type", value: type },
      value: { kind: "tensor", value: { type, shape: [...shape], bytes } },
    } as const;
    this.values.set(id, this.add("Const", [], attributes, [{ type, shape: [...shape] }]));
  }

  private addOperation(
    op: string,
    attributes: readonly OpAttribute[],
    inputs: readonly number[],
    created: readonly Created[],
  ): void {
    if (stateful.test(op)) this.noteObstacle(`it uses the operation ${op}, which a graph cannot repeat`);
    if (shapedByValues.test(op)) this.noteObstacle(`it uses the operation ${op}, whose shape depends on values`);
    const sources = inputs.map((id) => this.values.get(id));
    if (!sources.every(isDefined)) this.noteObstacle(`it gives ${op} a tensor that was created before`);
    const entries = attributes.map((attribute) => [attribute.name, attributeOf(this.binding, attribute)] as const);
    const all = { ...this.inferredAttributes(op, sources[0]), ...Object.fromEntries(entries) };
    const outputs = created.map(({ dtype, shape }) => ({ type: dtype, shape: [...shape] }));
    const { node } = this.add(op, sources.filter(isDefined), all, outputs);
    created.forEach(({ id }, output) => {
      this.values.set(id, { node, output });
    });
  }

  private inferredAttributes(op: string, input: Value | undefined): Readonly<Record<string, Attribute>> {
    const name = inferredFromInput[op];
    const type = input && this.nodes[input.node]?.outputs?.[input.output]?.type;
    return name === undefined || type === undefined ? {} : { [name]: { kind: "type", value: type } };
  }

  /** Adds a node. @throws RecordingDiffers if it is not the expected one */
  private add(
    op: string,
    inputs: readonly Value[],
    attributes: Readonly<Record<string, Attribute>>,
    outputs: readonly OutputType[],
  ): Value {
    const node = { op, inputs, attributes, outputs, ...(isExact() ? { exact: true } : {}) };
    const index = this.nodes.push(node) - 1;
    if (this.expected) {
      const { nodes, form = (each) => each } = this.expected;
      if (!isDeepStrictEqual(form(node), nodes[index])) throw new RecordingDiffers();
    }
    return { node: index, output: 0 };
  }
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

function attributeOf(binding: NativeBinding, { name, type, value }: OpAttribute): Attribute {
  switch (type) {
    case binding.TF_ATTR_TYPE:
      return { kind: "type", value: value as number };
    case binding.TF_ATTR_INT:
      return Array.isArray(value) ? { kind: "ints", value } : { kind: "int", value: value as number };
    case binding.TF_ATTR_FLOAT:
      return Array.isArray(value) ? { kind: "floats", value } : { kind: "float", value: value as number };
    case binding.TF_ATTR_BOOL:
      return { kind: "bool", value: value as boolean };
    case binding.TF_ATTR_STRING:
      return { kind: "string", value: value as string };
    case binding.TF_ATTR_SHAPE:
      return { kind: "shape", value: value as number[] };
    default:
      throw new Error(`The attribute ${name} has the unknown kind ${type}.`);
  }
}
