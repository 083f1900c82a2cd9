/** Replaces what TensorFlow.js computes with while a pass is recorded, and the tensors that it then holds. */

import type { GraphNode } from "../../../adapters/saved-model/graph-def";
import { RecordingDiffers } from "../errors";
import type { NativeBackend } from "../native/operations";
import type { NativeBinding } from "../native-binding";

/** The functions of the binding by which kernels of TensorFlow.js compute. */
export type TensorFunctions = Pick<NativeBinding, "createTensor" | "tensorDataSync" | "deleteTensor" | "executeOp">;

export type Created = ReturnType<NativeBinding["executeOp"]>[number];

interface Interception {
  readonly functions: TensorFunctions;
  readonly getInputTensorIds: NativeBackend["getInputTensorIds"];
  readonly onRandom: () => void;
}

/** Calls `body`, which must be synchronous, with a backend that uses these functions. */
export function intercept<T>(
  backend: NativeBackend,
  { functions, getInputTensorIds, onRandom }: Interception,
  body: () => T,
): T {
  const { binding } = backend;
  const { random } = Math;
  const changed = backend as { binding: NativeBinding; getInputTensorIds: NativeBackend["getInputTensorIds"] };
  // The binding's own properties are read-only, so they cannot be assigned.
  const properties = Object.entries(functions).map(([name, value]) => [name, { value }] as const);
  changed.binding = Object.create(binding, Object.fromEntries(properties)) as NativeBinding;
  changed.getInputTensorIds = getInputTensorIds;
  Math.random = () => {
    onRandom();
    return random();
  };
  try {
    return body();
  } finally {
    Math.random = random;
    delete (backend as Partial<NativeBackend>).getInputTensorIds; // the class's own is visible again
    changed.binding = binding;
  }
}

export interface PassTensors extends TensorFunctions {
  /** Ends a segment of the forward pass, see `RecomputedTensors`. @param outputs its tensors that the next segments read */
  endSegment(outputs: readonly number[]): void;
  /** Ends the pass. @returns whether TensorFlow.js holds a tensor that is freed */
  finish(): boolean;
}

/** Tensors without values, for a pass that must repeat expected nodes: they have the shapes that are expected. */
export class ShapesOnly implements PassTensors {
  private last = -1;

  /** @param next returns the node that the next operation should be */
  constructor(
    private readonly binding: NativeBinding,
    private readonly next: () => GraphNode | undefined,
  ) {}

  createTensor(): number {
    this.last -= 1;
    return this.last;
  }

  executeOp(): readonly Created[] {
    const outputs = this.next()?.outputs ?? [];
    return outputs.map(({ type, shape }) => ({ id: this.createTensor(), dtype: type, shape: [...shape] }));
  }

  /** @throws RecordingDiffers always */
  tensorDataSync(): never {
    throw new RecordingDiffers();
  }

  deleteTensor(id: number): void {
    if (id >= 0) this.binding.deleteTensor(id);
  }

  endSegment(): void {}

  finish(): boolean {
    return false;
  }
}

type Id = number;

/** An operation that can run again. */
interface Computation {
  /** Computations are repeated in ascending order. */
  readonly order: number;
  readonly segment: number;
  readonly inputs: readonly Id[];
  readonly outputs: readonly Id[];
  /** Returns new tensors for tensors of the inputs. */
  readonly compute: (inputs: readonly Id[]) => readonly Id[];
}

/** A tensor of the pass. TensorFlow.js knows it by its first number. */
interface Tensor {
  readonly id: Id;
  readonly computation: Computation;
  /** The present number of the binding: the first one, that of a repetition, or undefined, if there is none. */
  present: Id | undefined;
  isRead: boolean;
  /** Whether TensorFlow.js has deleted it. Others may still be computed from it. */
  isDeleted: boolean;
}

/** A tensor that may be freed, and how many repetitions had begun when it was computed. */
interface Freeable {
  readonly tensor: Tensor;
  readonly repetition: number;
}

/** Smaller tensors are not freed, in elements. */
const minFreed = 16_384;

/**
 * Frees a pass's tensors while TensorFlow.js holds them, and computes them again when they are read. Cuts divide the
 * forward pass into *segments*; at a segment's end all but its outputs are freed. The last one ends with the pass. One
 * segment's *repetition* exists at a time.
 */
export class RecomputedTensors implements PassTensors {
  /** By first number, in the order of computation. */
  private readonly tensors = new Map<Id, Tensor>();
  private segment = 0;
  /** The large tensors of the current segment. */
  private freeable: Freeable[] = [];
  private repetitions = 0;
  /** The segment of the current repetition, and its tensors. */
  private repeatedSegment: number | undefined;
  private repeated: Tensor[] = [];

  constructor(private readonly binding: NativeBinding) {}

  createTensor(shape: readonly number[], type: number, values: Float32Array | Int32Array): Id {
    const copy = values.slice();
    const create = () => this.binding.createTensor(shape, type, copy);
    const id = create();
    this.add([], [id], () => [create()]);
    return id;
  }

  executeOp(op: string, attributes: readonly unknown[], inputs: readonly Id[], count: number): readonly Created[] {
    const compute = (ids: readonly Id[]) => this.binding.executeOp(op, attributes, ids, count);
    const created = compute(this.read(inputs));
    const added = this.add(
      inputs,
      created.map(({ id }) => id),
      (ids) => compute(ids).map(({ id }) => id),
    );
    for (const id of inputs) {
      const input = this.tensors.get(id);
      if (input) input.isRead = true;
    }
    created.forEach(({ shape }, output) => {
      if (shape.reduce((product, side) => product * side, 1) < minFreed) return;
      this.freeable.push({ tensor: added[output] as Tensor, repetition: this.repetitions });
    });
    return created;
  }

  tensorDataSync(id: Id): Float32Array | Int32Array {
    return this.binding.tensorDataSync(this.read([id])[0] as Id);
  }

  deleteTensor(id: Id): void {
    const tensor = this.tensors.get(id);
    if (tensor === undefined) {
      this.binding.deleteTensor(id); // created before the recording
      return;
    }
    tensor.isDeleted = true;
    this.free(tensor);
  }

  endSegment(outputs: readonly Id[]): void {
    for (const { tensor } of this.freeable) if (!outputs.includes(tensor.id)) this.free(tensor);
    this.freeable = [];
    this.segment += 1;
  }

  finish(): boolean {
    this.freeRepeated();
    return [...this.tensors.values()].some((tensor) => isFreed(tensor) && !tensor.isDeleted);
  }

  private add(inputs: readonly Id[], outputs: readonly Id[], compute: Computation["compute"]): readonly Tensor[] {
    const computation = { order: this.tensors.size, segment: this.segment, inputs, outputs, compute };
    const added = outputs.map((id) => ({ id, computation, present: id, isRead: false, isDeleted: false }));
    for (const tensor of added) this.tensors.set(tensor.id, tensor);
    return added;
  }

  /** Returns the present numbers of tensors, valid until the next call. Repeats the computations of those that are missing. */
  private read(ids: readonly Id[]): readonly Id[] {
    const segment = this.missing(ids).at(-1)?.segment;
    if (segment !== undefined && segment !== this.repeatedSegment) {
      this.freeRepeated();
      this.freeGradients();
      this.repeatedSegment = segment;
      this.repetitions += 1;
    }
    for (const computation of this.missing(ids)) this.repeat(computation);
    return this.presentOf(ids);
  }

  private presentOf(ids: readonly Id[]): readonly Id[] {
    return ids.map((id) => this.tensors.get(id)?.present ?? id);
  }

  /** Returns what must be computed again, each after its inputs. */
  private missing(ids: readonly Id[]): readonly Computation[] {
    const computations = new Set<Computation>();
    const add = (id: Id) => {
      const tensor = this.tensors.get(id);
      if (tensor && tensor.present === undefined) computations.add(tensor.computation);
    };
    ids.forEach(add);
    for (const { inputs } of computations) inputs.forEach(add);
    return [...computations].sort((a, b) => a.order - b.order);
  }

  private repeat({ inputs, outputs, compute }: Computation): void {
    compute(this.presentOf(inputs)).forEach((present, output) => {
      const tensor = this.tensors.get(outputs[output] as Id) as Tensor;
      if (tensor.present === undefined) {
        tensor.present = present;
        this.repeated.push(tensor);
      } else {
        this.binding.deleteTensor(present);
      }
    });
  }

  private freeRepeated(): void {
    for (const tensor of this.repeated) {
      this.binding.deleteTensor(tensor.present as Id);
      tensor.present = undefined;
    }
    this.repeated = [];
  }

  /** Frees tensors of the backward pass that were read. The tape holds the gradient of each result to its end. */
  private freeGradients(): void {
    const isOld = ({ tensor, repetition }: Freeable): boolean => repetition < this.repetitions && tensor.isRead;
    for (const each of this.freeable) if (isOld(each)) this.free(each.tensor);
    this.freeable = this.freeable.filter((each) => !isOld(each));
  }

  /** Frees the first tensor of a number. A repeated one is freed with its repetition. */
  private free(tensor: Tensor): void {
    if (isFreed(tensor)) return;
    this.binding.deleteTensor(tensor.id);
    tensor.present = undefined;
  }
}

const isFreed = ({ id, present }: Tensor): boolean => present !== id;
