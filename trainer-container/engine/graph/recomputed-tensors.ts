import type { NativeBinding } from "../native-binding";

type Id = number;

/** An operation that can run again. */
interface Computation {
  /** Position among the computations. */
  readonly order: number;
  readonly segment: number;
  readonly inputs: readonly Id[];
  readonly outputs: readonly Id[];
  /** Returns new tensors for tensors of the inputs. */
  readonly compute: (inputs: readonly Id[]) => readonly Id[];
}

/** A tensor that may be freed. */
interface Opened {
  readonly id: Id;
  /** Number of segments that were computed again before. */
  readonly age: number;
}

type Created = ReturnType<NativeBinding["executeOp"]>;

/** Smaller tensors of the backward pass are not freed, in elements. */
const minFreed = 16_384;

/**
 * Frees tensors of a pass while TensorFlow.js holds them, and computes them again when they are read: the tape of a large
 * pass would need all its memory. TensorFlow.js knows a tensor by its first number.
 */
export class RecomputedTensors {
  /** By output. */
  private readonly computations = new Map<Id, Computation>();
  /** The present tensor of a number, if it is not the first one; undefined: none. */
  private readonly present = new Map<Id, Id | undefined>();
  /** Tensors of the current segment, or of the last one and the backward pass. */
  private open: Opened[] = [];
  private readonly alreadyRead = new Set<Id>();
  /** Tensors that were computed again. */
  private again: Id[] = [];
  private segment = 0;
  private segmentOfAgain: number | undefined;
  private order = 0;
  /** Number of times that another segment was computed again. */
  private moves = 0;
  private readonly deleted = new Set<Id>();

  constructor(private readonly binding: NativeBinding) {}

  /** Creates a tensor of JavaScript's values. */
  create(create: () => Id): Id {
    const id = create();
    this.add([], [id], () => [create()]);
    return id;
  }

  /** Runs an operation. */
  run(inputs: readonly Id[], compute: (inputs: readonly Id[]) => Created): Created {
    const created = compute(this.read(inputs));
    const idsOf = (found: Created): readonly Id[] => found.map(({ id }) => id);
    this.add(inputs, idsOf(created), (again) => idsOf(compute(again)));
    for (const id of inputs) this.alreadyRead.add(id);
    for (const { id, shape } of created) {
      if (shape.reduce((product, side) => product * side, 1) >= minFreed) this.open.push({ id, age: this.moves });
    }
    return created;
  }

  private add(inputs: readonly Id[], outputs: readonly Id[], compute: Computation["compute"]): void {
    const computation = { order: this.order++, segment: this.segment, inputs, outputs, compute };
    for (const id of outputs) this.computations.set(id, computation);
  }

  /** Returns the tensors of numbers, until the next call. */
  read(ids: readonly Id[]): readonly Id[] {
    const missing = this.missing(ids);
    const segment = missing.at(-1)?.segment;
    if (segment !== undefined && segment !== this.segmentOfAgain) {
      this.freeAgain();
      this.freeOld();
      this.segmentOfAgain = segment;
      for (const computation of this.missing(ids)) this.repeat(computation);
    } else {
      for (const computation of missing) this.repeat(computation);
    }
    return ids.map((id) => this.present.get(id) ?? id);
  }

  /** Deletes a tensor that TensorFlow.js no longer holds. It may still be computed again, for others. */
  delete(id: Id): void {
    this.deleted.add(id);
    if (this.computations.has(id)) this.free(id);
    else this.binding.deleteTensor(id);
  }

  /** Ends a segment and frees its tensors, but not `kept`. */
  endSegment(kept: readonly Id[]): void {
    const outputs = new Set(kept);
    for (const { id } of this.open) if (!outputs.has(id)) this.free(id);
    this.open = [];
    this.segment += 1;
  }

  /** Frees what was computed again. @returns whether TensorFlow.js holds a freed tensor */
  finish(): boolean {
    this.freeAgain();
    return [...this.present.keys()].some((id) => !this.deleted.has(id));
  }

  /**
   * Frees tensors of the backward pass that were read. The tape holds the gradient of each result to its end, although it
   * reads them only while it differentiates that operation.
   */
  private freeOld(): void {
    const oldest = this.moves;
    const isOld = ({ id, age }: Opened): boolean => age < oldest && this.alreadyRead.has(id);
    for (const each of this.open) if (isOld(each)) this.free(each.id);
    this.open = this.open.filter((each) => !isOld(each));
    this.moves += 1;
  }

  private free(id: Id): void {
    if (this.present.has(id)) return;
    this.binding.deleteTensor(id);
    this.present.set(id, undefined);
  }

  private has(id: Id): boolean {
    return !this.present.has(id) || this.present.get(id) !== undefined;
  }

  /** Returns what must be computed again, each after its inputs. */
  private missing(ids: readonly Id[]): readonly Computation[] {
    const found = new Set<Computation>();
    const add = (id: Id) => {
      if (!this.has(id)) found.add(this.computations.get(id) as Computation);
    };
    ids.forEach(add);
    for (const { inputs } of found) inputs.forEach(add);
    return [...found].sort((a, b) => a.order - b.order);
  }

  private repeat({ inputs, outputs, compute }: Computation): void {
    const tensors = compute(inputs.map((input) => this.present.get(input) ?? input));
    tensors.forEach((tensor, index) => {
      const id = outputs[index] as Id;
      if (this.has(id)) {
        this.binding.deleteTensor(tensor);
        return;
      }
      this.present.set(id, tensor);
      this.again.push(id);
    });
  }

  private freeAgain(): void {
    for (const id of this.again) {
      this.binding.deleteTensor(this.present.get(id) as Id);
      this.present.set(id, undefined);
    }
    this.again = [];
  }
}
