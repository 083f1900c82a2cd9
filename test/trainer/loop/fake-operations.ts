import type { MessagesInput } from "../../../trainer-container/collective/messages";
import type { ReduceScatterInput } from "../../../trainer-container/collective/reduce-scatter";
import { canonicalAdditions } from "../../../trainer-container/reduction/plan";

/** The effect of a fault at an operation of a sharded step that all ranks have begun. */
export interface OperationFault {
  /** Members that die; none: the generation is lost without anyone dying. */
  readonly kill: readonly string[];
  /** Members for whom the operation is complete all the same; a dead one may be among them. */
  readonly delivered: readonly string[];
}

type Input =
  | { readonly kind: "reduce-scatter"; readonly input: ReduceScatterInput }
  | { readonly kind: "exchange"; readonly input: MessagesInput };

interface Entry {
  readonly call: Input;
  resolve(signalsByRank: readonly number[]): void;
  reject(error: Error): void;
}

/**
 * The operations of a sharded optimizer, as the mesh has them: they happen once all ranks have begun, and where something is lost, any of the ranks may
 * have all they were owed. Those that have not find their memory half written.
 */
export class FakeOperations {
  private readonly entries = new Map<number, Entry>();

  constructor(
    private readonly microBatches: number,
    private readonly worldSize: number,
    /** Once a whole operation is there: which ranks it is complete for, or undefined for all. */
    private readonly happen: () => ((rank: number) => boolean) | undefined,
    private readonly afterFault: () => void,
    private readonly extraSignals: () => number,
  ) {}

  enter(rank: number, call: Input): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      this.entries.set(rank, { call, resolve, reject });
      if (this.entries.size === this.worldSize) this.run();
    });
  }

  lose(error: Error): void {
    for (const [rank, entry] of this.entries) {
      this.scribble(entry.call, rank);
      entry.reject(error);
    }
    this.entries.clear();
  }

  private run(): void {
    const delivered = this.happen();
    const all = [...this.entries].sort(([a], [b]) => a - b);
    const kinds = new Set(all.map(([, { call }]) => `${call.kind} ${call.input.finishedSteps}`));
    if (kinds.size > 1) throw new Error(`ranks are not at the same operation: ${[...kinds].join(", ")}`);
    const results = all.map(([rank, { call }]) => this.resultOf(rank, call, all));
    const signals = all.map(([, { call }]) => (call.kind === "exchange" ? 0 : call.input.signals));
    signals[0]! |= this.extraSignals();
    for (const [rank, entry] of all) {
      if (delivered !== undefined && !delivered(rank)) continue;
      this.entries.delete(rank);
      for (const { target, values } of results[rank]!) target.set(values);
      entry.resolve(signals);
    }
    if (delivered !== undefined) this.afterFault();
  }

  private resultOf(rank: number, call: Input, all: readonly (readonly [number, Entry])[]) {
    if (call.kind === "reduce-scatter") {
      const sum = this.sum(all);
      const { segments, own, copy } = call.input;
      const before = segments[(rank + this.worldSize - 1) % this.worldSize]!;
      const mine = segments[rank]!;
      return [
        { target: own, values: sum.slice(mine.start, mine.end) },
        ...(this.worldSize > 1 ? [{ target: copy, values: sum.slice(before.start, before.end) }] : []),
      ];
    }
    return call.input.receives.flatMap(({ rank: from, number, values: target }) => {
      if (target.length === 0) return [];
      const sent = all[from]![1].call;
      const message =
        sent.kind === "exchange" && sent.input.sends.find((one) => one.rank === rank && one.number === number);
      if (!message || message.values.length !== target.length) {
        throw new Error(`rank ${rank} awaits message ${number} of rank ${from}, which does not send it so`);
      }
      return [{ target, values: message.values.slice() }];
    });
  }

  private sum(all: readonly (readonly [number, Entry])[]): Float32Array {
    const slots = all.flatMap(([, { call }]) =>
      call.kind === "reduce-scatter" ? call.input.local.map((leaf) => leaf.slice()) : [],
    );
    for (const { into, from } of canonicalAdditions(this.microBatches)) {
      const target = slots[into]!;
      const source = slots[from]!;
      for (let i = 0; i < target.length; i += 1) target[i]! += source[i]!;
    }
    return slots[0]!;
  }

  private scribble(call: Input, rank: number): void {
    if (call.kind === "reduce-scatter") {
      call.input.own.fill(Number.NaN);
      if (this.worldSize > 1) call.input.copy.fill(rank);
    } else for (const { values } of call.input.receives) values.fill(Number.NaN);
  }
}
