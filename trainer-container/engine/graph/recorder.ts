/**
 * Records the operations that TensorFlow.js runs, as the nodes of a graph. The operations run as usual, so the recorded
 * pass has results. Tensors that are declared as inputs become placeholders; other tensors that JavaScript creates become
 * constants.
 */
import { isDeepStrictEqual } from "node:util";
import * as tf from "@tensorflow/tfjs-core";
import type { Attribute, GraphNode, OutputType, Value } from "../../../adapters/saved-model/graph-def";
import { RecordingDiffers } from "../errors";
import { type ComputationObserver, observing } from "../layer-scopes";
import { isExact } from "../layers/exact";
import type { NativeBackend, OpAttribute } from "../native/op";
import type { NativeBinding } from "../native-binding";
import { RecomputedTensors } from "./recomputed-tensors";

/** A recorded pass. */
export interface Recording<T> {
  readonly result: T;
  /** In the order of the inputs. */
  readonly placeholders: readonly Value[];
  readonly nodes: readonly GraphNode[];
  /** Reason why the nodes are not the whole pass, with the stack of that place; undefined: they are. */
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

/** Records the operations of one pass as graph nodes, while TensorFlow.js runs them. */
export class Recorder implements ComputationObserver {
  private readonly ends: number[] = [];
  private readonly cuts: number[] = [];
  private readonly nodes: GraphNode[] = [];
  /** By the binding's tensor numbers, which are never used twice. */
  private readonly values = new Map<number, Value>();
  /** Element types, by the binding's tensor numbers. */
  private readonly types = new Map<number, number>();
  private obstacle: Error | undefined;

  private readonly tensors: RecomputedTensors;

  /** Number of the last tensor that exists in JavaScript only. TensorFlow's numbers are positive. */
  private imagined = -1;

  /**
   * @param isCut where the values of the forward pass since the last cut are freed. They are computed again when needed.
   * @param expected nodes that the pass must repeat. Operations then take the shapes of these, and are not run, so the result
   *   must not contain tensors
   * @param form in which a node is compared with the expected one. Default: as it is
   */
  constructor(
    private readonly backend: NativeBackend,
    private readonly isCut: IsCut = () => false,
    private readonly expected?: readonly GraphNode[],
    private readonly form: (node: GraphNode) => GraphNode = (node) => node,
  ) {
    this.tensors = new RecomputedTensors(backend.binding);
  }

  /**
   * Runs `body`, which must be synchronous, and records its operations.
   *
   * @param inputs tensors that the graph takes instead of the present values
   * @throws RecordingDiffers at the first node that is not the expected one
   */
  record<T>(inputs: readonly tf.Tensor[], body: (recorder: Recorder) => T): Recording<T> {
    const { backend } = this;
    const { binding, getInputTensorIds } = backend;
    const placeholders = inputs.map((tensor) => this.addPlaceholder(tensor));
    const random = Math.random;
    Math.random = () => {
      this.fail("it draws random numbers in JavaScript");
      return random();
    };
    const spied = backend as { binding: NativeBinding; getInputTensorIds: NativeBackend["getInputTensorIds"] };
    spied.binding = this.spyOn(binding);
    spied.getInputTensorIds = (tensors) => {
      const ids = getInputTensorIds.call(backend, tensors);
      ids.forEach((id, index) => {
        if (!this.values.has(id)) this.addEarlier(binding, id, tensors[index]?.shape ?? []);
      });
      return ids;
    };
    try {
      // Imagined tensors are disposed before the spy leaves.
      const result = observing(this, () => tf.tidy(() => body(this) as tf.TensorContainer)) as T;
      if (this.expected && this.nodes.length < this.expected.length) throw new RecordingDiffers();
      if (this.tensors.finish()) this.fail("it keeps a tensor after a call");
      const { nodes, obstacle, ends, cuts } = this;
      return { result, placeholders, nodes, obstacle, ends, cuts };
    } finally {
      spied.binding = binding;
      delete (backend as Partial<NativeBackend>).getInputTensorIds; // the class's own is visible again
      Math.random = random;
    }
  }

  leaveLayer(layer: string, outputs: readonly tf.Tensor[]): void {
    this.ends.push(this.nodes.length);
    if (!this.isCut(layer, this.ends.length - 1)) return;
    if (!this.expected) this.tensors.endSegment(this.backend.getInputTensorIds(outputs));
    this.cuts.push(this.nodes.length);
  }

  private addPlaceholder(tensor: tf.Tensor): Value {
    const { binding } = this.backend;
    const [id = -1] = this.backend.getInputTensorIds([tensor]);
    const type = tensor.dtype === "int32" ? binding.TF_INT32 : binding.TF_FLOAT;
    const attributes = {
      dtype: { kind: "type", value: type },
      shape: { kind: "shape", value: tensor.shape },
    } as const;
    const value = this.add("Placeholder", [], attributes, [{ type, shape: tensor.shape }]);
    this.values.set(id, value);
    this.types.set(id, type);
    return value;
  }

  /** Returns the value of a tensor of the recorded pass. */
  valueOf(tensor: tf.Tensor): Value {
    const [id = -1] = this.backend.getInputTensorIds([tensor]);
    return this.values.get(id) as Value;
  }

  private add(
    op: string,
    inputs: readonly Value[],
    attributes: Readonly<Record<string, Attribute>>,
    outputs: readonly OutputType[],
  ): Value {
    const node = { op, inputs, attributes, outputs, ...(isExact() ? { exact: true } : {}) };
    if (this.expected && !isDeepStrictEqual(this.form(node), this.expected[this.nodes.length])) {
      throw new RecordingDiffers();
    }
    this.nodes.push(node);
    return { node: this.nodes.length - 1, output: 0 };
  }

  private fail(reason: string): void {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 50; // the user's code is below many frames of TensorFlow.js
    this.obstacle ??= new Error(reason);
    Error.stackTraceLimit = stackTraceLimit;
  }

  private spyOn(binding: NativeBinding): NativeBinding {
    const spy: Partial<NativeBinding> = {
      createTensor: (shape, type, values) => {
        const copy = values.slice();
        const id = this.tensors.create(() => binding.createTensor(shape, type, copy));
        this.addConstant(id, shape, type, values);
        return id;
      },
      tensorDataSync: (id) => {
        this.fail("it reads a value in the middle");
        return binding.tensorDataSync(this.tensors.read([id])[0] as number);
      },
      deleteTensor: (id) => this.tensors.delete(id),
      executeOp: (op, attributes, inputs, outputs) => {
        const created = this.tensors.run(inputs, (ids) => binding.executeOp(op, attributes, ids, outputs));
        this.addOperation(binding, op, attributes as readonly OpAttribute[], inputs, created);
        return created;
      },
    };
    if (this.expected) Object.assign(spy, this.imagining(binding, this.expected));
    // The binding's own properties are read-only, so they cannot be assigned.
    const properties = Object.entries(spy).map(([name, value]) => [name, { value }] as const);
    return Object.create(binding, Object.fromEntries(properties)) as NativeBinding;
  }

  /** Computes nothing: the tensors have numbers and the expected shapes, but no values. */
  private imagining(binding: NativeBinding, expected: readonly GraphNode[]): Partial<NativeBinding> {
    const next = (): number => {
      this.imagined -= 1;
      return this.imagined;
    };
    return {
      createTensor: (shape, type, values) => {
        const id = next();
        this.addConstant(id, shape, type, values);
        return id;
      },
      tensorDataSync: () => {
        throw new RecordingDiffers();
      },
      deleteTensor: (id) => {
        if (id >= 0) binding.deleteTensor(id);
      },
      executeOp: (op, attributes, inputs) => {
        const outputs = expected[this.nodes.length]?.outputs ?? [];
        const created = outputs.map(({ type, shape }) => ({ id: next(), dtype: type, shape: [...shape] }));
        this.addOperation(binding, op, attributes as readonly OpAttribute[], inputs, created);
        return created;
      },
    };
  }

  /** Makes a constant of a tensor that was created before the recording. */
  private addEarlier(binding: NativeBinding, id: number, shape: readonly number[]): void {
    const values = binding.tensorDataSync(id);
    const type = values instanceof Int32Array ? binding.TF_INT32 : binding.TF_FLOAT;
    if (values instanceof Float32Array || values instanceof Int32Array) this.addConstant(id, shape, type, values);
    else this.fail("it uses a tensor that was created before and holds no numbers");
  }

  private addConstant(id: number, shape: readonly number[], type: number, values: unknown): void {
    if (!ArrayBuffer.isView(values)) {
      this.fail("it creates tensors that hold no numbers");
      return;
    }
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
    const attributes = {
      dtype: { kind: "type", value: type },
      value: { kind: "tensor", value: { type, shape: [...shape], bytes } },
    } as const;
    const value = this.add("Const", [], attributes, [{ type, shape: [...shape] }]);
    this.values.set(id, value);
    this.types.set(id, type);
  }

  private addOperation(
    binding: NativeBinding,
    op: string,
    attributes: readonly OpAttribute[],
    inputs: readonly number[],
    created: ReturnType<NativeBinding["executeOp"]>,
  ): void {
    if (stateful.test(op)) this.fail(`it uses the operation ${op}, which a graph cannot repeat`);
    if (shapedByValues.test(op)) this.fail(`it uses the operation ${op}, whose shape depends on values`);
    const sources = inputs.map((id) => this.values.get(id));
    if (!sources.every(isDefined)) this.fail(`it gives ${op} a tensor that was created before`);
    const known = attributes.map((attribute) => [attribute.name, attributeOf(binding, attribute)] as const);
    const missing = inferredFromInput[op];
    const type = this.types.get(inputs[0] ?? -1);
    const inferred = missing !== undefined && type !== undefined ? { [missing]: { kind: "type", value: type } } : {};
    const all = { ...inferred, ...Object.fromEntries(known) } as Readonly<Record<string, Attribute>>;
    const outputs = created.map(({ dtype, shape }) => ({ type: dtype, shape: [...shape] }));
    const { node } = this.add(op, sources.filter(isDefined), all, outputs);
    created.forEach(({ id, dtype }, output) => {
      this.values.set(id, { node, output });
      this.types.set(id, dtype);
    });
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
