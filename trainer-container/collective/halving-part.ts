import { type Add, add as addFloats } from "../kernels/add";
import type { Staging } from "../kernels/sum-memory";
import { bytesOf } from "../kernels/sum-memory";
import type { HalvingPlan, HalvingRole } from "../reduction/halving";
import type { Addition, LeafRange, ReductionPlan } from "../reduction/plan";
import type { AllReduceInput } from "./all-reduce";
import { type FrameHeader, type FrameType, frameTypes } from "./frame";
import {
  levelCount,
  levelOf,
  type PartShape,
  postReceives,
  type Receive,
  type Stage,
  type Stages,
  serveSlot,
} from "./halving-receives";
import type { MeshOperation } from "./mesh-operation";
import { chunkCount, chunkOf, halvingSpan, type Span } from "./segments";

/** Slots per part of a vector. The slots of a part start at its index times this number. */
export const partSlots = 2 ** 16;

export interface HalvingOperation extends MeshOperation {
  readonly plan: ReductionPlan;
  readonly input: AllReduceInput;
  readonly chunkElements: number;
  readonly staging: Staging;
  /** OR of the signals received so far. */
  readonly signals: number;
}

/** Elements added or sent between two checks of the sockets. */
const elementsPerTurn = 256 * 1024;

/** A vector whose memory holds the elements from `base` on. */
interface Operand {
  readonly values: Float32Array;
  readonly base: number;
}

/**
 * Halving and doubling of one part of the vector. The P *hosts* have *positions* and sum one *subtree* each; other
 * ranks are *guests*. Hosts at p and p ^ 2^k are *partners* at *level* k. *span(p, n)* is what p sums after n halvings.
 * V: number of leaves.
 * - *give*: partial sums of other hosts' subtrees. Slot: the first leaf; of `begin`: 0.
 * - *halve k*: each partner sends its sum of span(partner, k + 1), the other adds its own. Slot: V + k.
 * - *double k*, k = …, 1, 0: each partner sends the final sums of span(itself, k + 1).
 * - *serve*: each host sends final sums to its guests. Slot of `begin`: V + log2 P.
 * A `begin` carries the OR of all signals received and the values on which ranks must agree; the graph of senders is
 * connected, so some pair detects a disagreement. No memory is changed after it was sent.
 */
export class HalvingPart {
  private readonly shape: PartShape;
  private readonly role: HalvingRole;
  private readonly leaves: LeafRange;
  private readonly firstSlot: number;
  private readonly out: Operand;
  private readonly add: Add;
  private readonly stages: Stages;
  private readonly receives: readonly Receive[];
  /** The stage for which `receive` waits, and the function that continues it. */
  private current: Stage | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly operation: HalvingOperation,
    halving: HalvingPlan,
    private readonly whole: Span,
    index: number,
  ) {
    const { mesh, plan, input, chunkElements } = operation;
    const { rank } = mesh.options;
    this.shape = { halving, leafCount: plan.leafCount, whole, chunkElements };
    this.role = halving.roles[rank]!;
    this.leaves = plan.ranks[rank]!.leaves;
    this.firstSlot = index * partSlots;
    this.out = { values: input.out, base: 0 };
    this.add = input.add ?? addFloats;
    const { stages, receives } = postReceives(this.shape, rank);
    this.stages = stages;
    this.receives = receives;
  }

  reserve(): void {
    for (const { type, slot, span } of this.receives) {
      if (type === frameTypes.partial) this.operation.staging.reserve(this.firstSlot + slot, span.end - span.start);
    }
  }

  async run(): Promise<void> {
    const { position, gives, guests } = this.role;
    const levels = levelCount(this.shape);
    if (gives.length > 0) await this.give();
    if (position === undefined) return this.receive(this.stages.serve);
    await this.receive(this.stages.give);
    for (let k = 0; k < levels && !this.operation.failure; k++) await this.halve(position, k);
    if (this.operation.failure) return;
    for (const guest of guests) this.begin(guest, serveSlot(this.shape));
    this.serve(halvingSpan(this.whole, position, levels));
    for (let k = levels - 1; k >= 0 && !this.operation.failure; k--) await this.double(position, k);
  }

  private async give(): Promise<void> {
    const { gives } = this.role;
    for (const rank of new Set(gives.map((entry) => entry.rank))) this.begin(rank, 0);
    await this.inTurns(this.whole, (chunk) => {
      this.addOwnLeaves(chunk);
      for (const { slot, rank } of gives) this.send(rank, frameTypes.partial, slot, this.operand(slot), chunk);
    });
  }

  private async halve(position: number, k: number): Promise<void> {
    const { partner, kept, given, slot } = levelOf(this.shape, position, k);
    const { leafCount, halving } = this.shape;
    const sum = this.operand((position * leafCount) / halving.hosts.length);
    this.begin(partner, slot);
    await this.inTurns(given, (chunk) => {
      if (k === 0) this.addSubtree(chunk);
      this.send(partner, frameTypes.partial, slot, sum, chunk);
    });
    if (k === 0) await this.inTurns(kept, (chunk) => this.addSubtree(chunk));
    const into = k === levelCount(this.shape) - 1 ? this.out : sum;
    const theirs = { values: this.staged(slot), base: kept.start };
    await this.receive(this.stages.halve[k]!, (span) => this.addInto(into, sum, theirs, span));
  }

  private async double(position: number, k: number): Promise<void> {
    const { partner, kept } = levelOf(this.shape, position, k);
    await this.inTurns(kept, (chunk) => this.send(partner, frameTypes.sum, 0, this.out, chunk));
    await this.receive(this.stages.double[k]!, (span) => this.serve(span));
  }

  private serve(span: Span): void {
    for (let index = 0; index < this.chunks(span); index++) {
      const chunk = chunkOf(span, index, this.operation.chunkElements);
      for (const guest of this.role.guests) this.send(guest, frameTypes.sum, 0, this.out, chunk);
    }
  }

  /** Waits for all frames of a stage. @param process gets each span once */
  private async receive(stage: Stage, process: (span: Span) => void = () => {}): Promise<void> {
    this.current = stage;
    while (!this.operation.failure) {
      for (const span of stage.arrived.splice(0)) process(span);
      if (stage.missing === 0) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
  }

  /** Processes a span chunk by chunk, with checks of the sockets in between. */
  private async inTurns(span: Span, work: (chunk: Span) => void): Promise<void> {
    let sinceYield = 0;
    for (let index = 0; index < this.chunks(span) && !this.operation.failure; index++) {
      const chunk = chunkOf(span, index, this.operation.chunkElements);
      work(chunk);
      sinceYield += chunk.end - chunk.start;
      if (sinceYield >= elementsPerTurn) {
        sinceYield = 0;
        await new Promise(setImmediate);
      }
    }
  }

  place(rank: number, header: FrameHeader): Buffer {
    const { type, slot, offset: start, bytes } = header;
    const receive = this.receiveOf(rank, header);
    if (!receive) {
      throw new Error(`rank ${rank} sent a frame of type ${type} for slot ${slot}, which this rank does not await`);
    }
    const { span } = receive;
    const end = start + bytes / 4;
    if (!(Number.isSafeInteger(start) && start >= span.start && end >= start && end <= span.end)) {
      throw new Error(`a frame holds elements [${start}, ${end}), which are not in [${span.start}, ${span.end})`);
    }
    if (type === frameTypes.sum) return bytesOf(this.out.values, start, end);
    return bytesOf(this.staged(receive.slot), start - span.start, end - span.start);
  }

  complete(rank: number, header: FrameHeader): void {
    const receive = this.receiveOf(rank, header);
    if (!receive?.missing) throw new Error(`rank ${rank} sent more frames than this rank awaits`);
    const { stage } = receive;
    receive.missing--;
    stage.missing--;
    const { offset, bytes } = header;
    if (bytes > 0) stage.arrived.push({ start: offset, end: offset + bytes / 4 });
    if (stage === this.current) this.wake?.();
  }

  private receiveOf(rank: number, { type, slot }: FrameHeader): Receive | undefined {
    const inPart = slot - this.firstSlot;
    return this.receives.find((each) => each.rank === rank && each.type === type && each.slot === inPart);
  }

  owes(rank: number): boolean {
    return this.receives.some((each) => each.rank === rank && each.missing > 0);
  }

  wakeUp(): void {
    this.wake?.();
  }

  private begin(rank: number, slot: number): void {
    const { mesh, signals, number, input } = this.operation;
    mesh.peers[rank]!.outbound!.send({
      type: frameTypes.begin,
      operation: number,
      slot: this.firstSlot + slot,
      signals,
      finishedSteps: input.finishedSteps,
      offset: input.out.length,
    });
  }

  private send(rank: number, type: FrameType, slot: number, from: Operand, { start, end }: Span): void {
    const { mesh, number } = this.operation;
    const header = { type, operation: number, slot: this.firstSlot + slot, offset: start };
    mesh.peers[rank]!.outbound!.send(header, bytesOf(from.values, start - from.base, end - from.base));
  }

  /** Adds the leaves of a host's subtree. Its own are already added if it gave some of their sums to other hosts. */
  private addSubtree(chunk: Span): void {
    if (this.role.gives.length === 0) this.addOwnLeaves(chunk);
    this.addNodes(this.role.additions, chunk);
  }

  private addOwnLeaves(chunk: Span): void {
    const { plan, mesh } = this.operation;
    this.addNodes(plan.ranks[mesh.options.rank]!.additions, chunk);
  }

  private addNodes(additions: readonly Addition[], chunk: Span): void {
    for (const { into, from } of additions) {
      const sum = this.operand(into);
      this.addInto(sum, sum, this.operand(from), chunk);
    }
  }

  private addInto(into: Operand, a: Operand, b: Operand, { start, end }: Span): void {
    this.operation.timed(() =>
      this.add(into.values, start - into.base, a.values, start - a.base, b.values, start - b.base, end - start, start),
    );
  }

  private operand(slot: number): Operand {
    const { first, end } = this.leaves;
    if (slot >= first && slot < end) return { values: this.operation.input.local[slot - first]!, base: 0 };
    return { values: this.staged(slot), base: this.whole.start };
  }

  private staged(slot: number): Float32Array {
    return this.operation.staging.get(this.firstSlot + slot);
  }

  private chunks(span: Span): number {
    return chunkCount(span, this.operation.chunkElements);
  }
}
