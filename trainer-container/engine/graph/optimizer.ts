import { createHash } from "node:crypto";
import type { Value } from "../../../adapters/saved-model/graph-def";
import { allocateSum, inSumMemory, releaseSum } from "../../kernels/sum-memory";
import type { OptimizerSettings, ParameterSlot, StepUpdate } from "../engine";
import type { Operations, TensorId } from "../native/operations";
import type { TensorReader } from "../native/shared-tensors";
import type { NativeBinding } from "../native-binding";
import type { OptimizerMemory } from "../program-trainable";
import { floatType, type GraphBuilder } from "./builder";
import { type GraphSession, namesOf } from "./session";
import { addUpdate, constantCount, takesOwnAdam, type UpdateOptions, updateConstants } from "./update";

/** JavaScript's memory of a session's weights: its own, or its owner's. */
export class HostWeights {
  private readonly own: Float32Array;
  private current: Float32Array;

  constructor(
    private readonly session: GraphSession,
    length: number,
  ) {
    this.own = allocateSum(length);
    this.current = this.own;
  }

  /** The memory that `GraphSession.pull` fills. */
  get memory(): Float32Array {
    return this.current;
  }

  /** Uses the owner's memory from now on, as it is. */
  share(memory: Float32Array): void {
    if (!inSumMemory(memory)) return;
    this.current = memory;
    this.session.variables.hostChanged();
  }

  write(from: Float32Array): void {
    if (from !== this.current) {
      this.current = this.own; // shared memory belongs to another caller
      this.own.set(from);
    }
    this.session.variables.hostChanged();
  }

  read(into: Float32Array): void {
    this.session.pull();
    into.set(this.current);
  }

  dispose(): void {
    releaseSum(this.own);
  }
}

/** The nodes of a step whose gradients are computed in the same call. */
export interface StepNodes {
  readonly input: string;
  /** `Traced.results[0]`, and the vector of `addUpdate`. */
  readonly outputs: string;
  /** Whether its bits are those of a sum and `apply`; undefined until the first step. */
  exact: boolean | undefined;
}

interface ModelVariables {
  readonly binding: NativeBinding;
  readonly session: GraphSession;
  readonly weights: HostWeights;
  readonly operations: Operations;
  readonly reader: TensorReader;
  readonly layout: readonly ParameterSlot[];
  /** See `hasOwnOperations`. */
  readonly ownOperations: boolean;
  readonly handles: readonly Value[];
}

export class GraphOptimizer {
  private readonly slotNames: readonly string[];
  /** By position in the layout, in the order of the slots' names. */
  private readonly slots: readonly (readonly Value[])[];
  private readonly total: number;
  private readonly numbers = allocateSum(constantCount);
  /** Applies a sum. @returns as `apply` */
  private readonly take: (sum: Float32Array, update: StepUpdate) => number;

  constructor(
    private readonly model: ModelVariables,
    private readonly settings: OptimizerSettings,
    private readonly memory: OptimizerMemory,
  ) {
    const { session, layout } = model;
    const { variables } = session;
    this.slotNames = Object.keys(memory.slots).sort();
    this.slots = layout.map(({ name, shape, offset, size, trainable }) =>
      trainable
        ? variables.add(
            this.slotNames.map((slot) => ({
              name: `${name} ${slot}`,
              shape,
              host: () => (memory.slots[slot] as Float32Array).subarray(offset, offset + size),
            })),
          )
        : [],
    );
    this.total = layout.reduce((sum, { size }) => sum + size, 0);
    this.take =
      takesOwnAdam(this.options()) && layout.every(({ trainable }) => trainable)
        ? this.takeOutside()
        : this.takeInGraph();
  }

  /** Applies a sum by one function: a call of the graph costs several times as much as a small model's step. */
  private takeOutside(): (sum: Float32Array, update: StepUpdate) => number {
    const { binding, session, handles } = this.model;
    const held = [...handles, ...this.slotNames.flatMap((_, slot) => this.slots.map((slots) => slots[slot] as Value))];
    return (sum, update) => {
      this.numbers.set(updateConstants(this.settings, update));
      const norm = binding.adam(session.hold(held), this.numbers, sum);
      if (!Number.isNaN(norm)) session.variables.graphChanged();
      return norm;
    };
  }

  private takeInGraph(): (sum: Float32Array, update: StepUpdate) => number {
    const { session, operations, layout, reader } = this.model;
    const { builder } = session;
    const sum = builder.placeholder([this.total]);
    const parts = layout.map(({ offset, size }) =>
      builder.add("Slice", [sum, builder.integers([offset]), builder.integers([size])], {
        T: { kind: "type", value: 1 },
        Index: { kind: "type", value: 3 },
      }),
    );
    const constants = builder.placeholder([constantCount]);
    const taken = addUpdate(this.options(), { updated: this.updated(parts), constants, flat: sum });
    const [inputs, output] = [namesOf([sum, constants]), namesOf([taken])];
    return (given, update) => {
      try {
        const taken = session.run(inputs, [reader.feed([this.total], given), this.constants(update)], output);
        operations.adopt(taken);
        return this.normOf(taken[0] as TensorId);
      } finally {
        operations.release();
      }
    };
  }

  /** Adds a step to a pass. @param numbers `Traced.results[0]` @param gradients `Traced.gradients` */
  addStep(numbers: Value, microBatches: number, gradients: readonly Value[]): StepNodes {
    const { builder } = this.model.session;
    const loss = sumOfLosses(builder, numbers, microBatches);
    const constants = builder.placeholder([constantCount]);
    const taken = addUpdate(this.options(), { updated: this.updated(gradients), constants, loss });
    return { input: namesOf([constants]), outputs: namesOf([numbers, taken]), exact: undefined };
  }

  private options(): UpdateOptions {
    const { session, ownOperations } = this.model;
    return { builder: session.builder, variables: session.variables, settings: this.settings, ownOperations };
  }

  private updated(gradients: readonly Value[]) {
    return this.model.layout.map(({ shape, trainable }, slot) => ({
      weight: this.model.handles[slot] as Value,
      slots: this.slots[slot] as readonly Value[],
      gradient: gradients[slot] as Value,
      shape,
      trainable,
    }));
  }

  apply(sum: Float32Array, update: StepUpdate): number {
    return this.take(sum.subarray(0, this.total), update);
  }

  constants(update: StepUpdate): TensorId {
    this.numbers.set(updateConstants(this.settings, update));
    return this.model.reader.feed([constantCount], this.numbers);
  }

  /** Reads the vector of `addUpdate`. */
  normOf(taken: TensorId): number {
    const [norm, skipped] = this.model.operations.read(taken);
    if (skipped !== 0) return Number.NaN;
    this.model.session.variables.graphChanged();
    return norm as number;
  }

  copyState(): readonly Float32Array[] {
    return this.state().map((values) => values.slice());
  }

  restoreState(copies: readonly Float32Array[]): void {
    for (const [index, values] of this.state().entries()) values.set(copies[index] as Float32Array);
    this.model.session.variables.hostChanged();
  }

  digest(): string {
    const hash = createHash("sha256");
    for (const values of this.state()) hash.update(values);
    return hash.digest("hex");
  }

  private state(): readonly Float32Array[] {
    this.model.session.pull();
    return [this.model.weights.memory, ...this.slotNames.map((name) => this.memory.slots[name] as Float32Array)];
  }

  read(): void {
    const { session, weights } = this.model;
    session.pull();
    if (weights.memory !== this.memory.weights) this.memory.weights.set(weights.memory);
  }

  dispose(): void {
    releaseSum(this.numbers);
  }
}

function sumOfLosses(builder: GraphBuilder, numbers: Value, microBatches: number): Value {
  const losses = builder.add("Slice", [numbers, builder.integers([0, 0]), builder.integers([microBatches, 1])], {
    T: floatType,
    Index: { kind: "type", value: 3 },
  });
  return builder.add("Sum", [losses, builder.integers([0, 1])], {
    T: floatType,
    Tidx: { kind: "type", value: 3 },
    keep_dims: { kind: "bool", value: false },
  });
}
