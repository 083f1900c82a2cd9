import type { HalvingPlan, HalvingRole } from "../reduction/halving";
import type { LeafRange, ReductionPlan } from "../reduction/plan";
import type { Addition } from "../reduction/tree";
import { type Add, add as addFloats } from "./add";
import type { AllReduceInput } from "./all-reduce";
import { bytesOf, type FrameHeader, frameTypes } from "./frame";
import { halvingSpan } from "./halving-span";
import { HalvingStages } from "./halving-stages";
import type { MeshOperation } from "./mesh-operation";
import { chunkCount, chunkOf, type Span } from "./segments";
import type { Staging } from "./staging";

/** Slots per part of a vector. The slots of a part start at its index times this number. */
export const partSlots = 2 ** 16;
/** The operation that a part belongs to. */
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

/**
 * Halving and doubling of one span of the vector. The stages, in order:
 *
 * - *give* (0): guests send their partial sums to hosts (only if W is no power of two);
 * - *halve k* (1 + k), k = 0, 1, …: hosts at distance 2^k exchange halves of their current span, and each adds one: one
 *   level of the canonical tree;
 * - *double k* (1 + steps + k), k = …, 1, 0: the same pairs exchange final sums, twice as many each time;
 * - *serve* (the last): guests receive the final sums as their host gets them.
 *
 * Signals and agreement are part of the messages: each `begin` carries the OR of all signals that its sender has received.
 * The graph of stages is connected, so some pair detects any disagreement. The slot distinguishes the frames of a sender:
 * below V it is a leaf's slot, and V + k is stage k of halving.
 *
 * No memory is changed after it was sent: a halving sends elements to which this rank adds nothing later, and a doubling sends
 * final elements.
 */
export class HalvingPart {
  private readonly steps: number;
  private readonly role: HalvingRole;
  private readonly leaves: LeafRange;
  private readonly leafCount: number;
  private readonly slots: number;
  private readonly stages: HalvingStages;
  private readonly add: Add;
  private current = -1;
  private wake: (() => void) | undefined;

  constructor(
    private readonly operation: HalvingOperation,
    private readonly halving: HalvingPlan,
    private readonly whole: Span,
    index: number,
  ) {
    const { mesh, plan } = operation;
    this.steps = Math.log2(halving.hosts.length);
    this.role = halving.roles[mesh.options.rank]!;
    this.leaves = plan.ranks[mesh.options.rank]!.leaves;
    this.leafCount = plan.leafCount;
    this.slots = index * partSlots;
    this.add = operation.input.add ?? addFloats;
    this.stages = new HalvingStages(2 + 2 * this.steps);
    this.expectFrames();
  }

  place(rank: number, header: FrameHeader): Buffer {
    const { offset: start, type } = header;
    const slot = header.slot - this.slots;
    const end = start + header.bytes / 4;
    const stage = this.stageOf(rank, type, slot);
    const taken = stage !== 0 || this.role.takes.some((entry) => entry.rank === rank && entry.slot === slot);
    if (!this.stages.awaits(stage, rank) || !taken) {
      throw new Error(`rank ${rank} sent a frame of type ${type} for slot ${slot}, which this rank does not await`);
    }
    const within = this.awaited(stage, rank);
    if (!(Number.isSafeInteger(start) && start >= within.start && end >= start && end <= within.end)) {
      throw new Error(`a frame holds elements [${start}, ${end}), which are not in [${within.start}, ${within.end})`);
    }
    if (type === frameTypes.sum) return bytesOf(this.operation.input.out, start, end);
    return bytesOf(this.received(slot), start - within.start, end - within.start);
  }

  complete(rank: number, { type, slot, offset, bytes }: FrameHeader): void {
    const stage = this.stageOf(rank, type, slot - this.slots);
    this.stages.arrive(stage, rank, { start: offset, end: offset + bytes / 4 });
    if (stage === this.current) this.wake?.();
  }

  owes(rank: number): boolean {
    return this.stages.owes(rank);
  }

  wakeUp(): void {
    this.wake?.();
  }

  reserve(): void {
    const { staging } = this.operation;
    const { place, takes } = this.role;
    for (const { slot } of takes) staging.reserve(this.slots + slot, this.whole.end - this.whole.start);
    if (place === undefined) return;
    for (let k = 0; k < this.steps; k++) {
      const { start, end } = halvingSpan(this.whole, place, k + 1);
      staging.reserve(this.slots + this.leafCount + k, end - start);
    }
  }

  async go(): Promise<void> {
    const { place, gives, takes, guests } = this.role;
    if (gives.length > 0) {
      for (const rank of new Set(gives.map((entry) => entry.rank))) this.begin(rank, 0);
      await this.inTurns(this.whole, (chunk) => {
        this.addOwnLeaves(chunk);
        for (const { slot, rank } of gives) this.send(rank, frameTypes.partial, slot, this.operand(slot), chunk);
      });
    }
    if (place === undefined) return this.receive(this.stages.count - 1, () => {});
    if (takes.length > 0) await this.receive(0, () => {});
    const prepare = (chunk: Span) => {
      if (gives.length === 0) this.addOwnLeaves(chunk);
      this.addNodes(this.role.additions, chunk);
    };
    for (let k = 0; k < this.steps && !this.operation.failure; k++) {
      await this.halve(place, k, k === 0 ? prepare : () => {});
    }
    if (this.operation.failure) return;
    for (const guest of guests) this.begin(guest, this.leafCount + this.steps);
    this.serve(halvingSpan(this.whole, place, this.steps));
    for (let k = this.steps - 1; k >= 0 && !this.operation.failure; k--) await this.double(place, k);
  }

  private async halve(place: number, k: number, prepare: (chunk: Span) => void): Promise<void> {
    const partner = this.halving.hosts[place ^ (1 << k)]!;
    const kept = halvingSpan(this.whole, place, k + 1);
    const slot = this.leafCount + k;
    const sum = this.operand((place * this.leafCount) / this.halving.hosts.length);
    this.begin(partner, slot);
    await this.inTurns(halvingSpan(this.whole, place ^ (1 << k), k + 1), (chunk) => {
      prepare(chunk);
      this.send(partner, frameTypes.partial, slot, sum, chunk);
    });
    await this.inTurns(kept, prepare);
    const out = { values: this.operation.input.out, base: 0 };
    const into = k === this.steps - 1 ? out : sum;
    const theirs = { values: this.received(slot), base: kept.start };
    await this.receive(1 + k, (span) => this.addInto(into, sum, theirs, span));
  }

  private async double(place: number, k: number): Promise<void> {
    const partner = this.halving.hosts[place ^ (1 << k)]!;
    const out = { values: this.operation.input.out, base: 0 };
    await this.inTurns(halvingSpan(this.whole, place, k + 1), (chunk) =>
      this.send(partner, frameTypes.sum, 0, out, chunk),
    );
    await this.receive(1 + this.steps + k, (span) => this.serve(span));
  }

  /** Sends final sums to the guests. */
  private serve(span: Span): void {
    const out = { values: this.operation.input.out, base: 0 };
    for (let index = 0; index < this.chunks(span); index++) {
      const chunk = chunkOf(span, index, this.operation.chunkElements);
      for (const guest of this.role.guests) this.send(guest, frameTypes.sum, 0, out, chunk);
    }
  }

  /** Waits for all frames of a stage. `take` gets each span once, when it has arrived and its stage is reached. */
  private async receive(stage: number, take: (span: Span) => void): Promise<void> {
    this.current = stage;
    while (!this.operation.failure) {
      for (const span of this.stages.take(stage)) take(span);
      if (this.stages.isOver(stage)) return;
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

  private begin(rank: number, slot: number): void {
    const { mesh, signals, number, input } = this.operation;
    mesh.peers[rank]!.outbound!.send({
      type: frameTypes.begin,
      operation: number,
      slot: this.slots + slot,
      signals,
      finishedSteps: input.finishedSteps,
      offset: input.out.length,
    });
  }

  private send(rank: number, type: FrameHeader["type"], slot: number, from: Operand, { start, end }: Span): void {
    const { mesh, number } = this.operation;
    const header = { type, operation: number, slot: this.slots + slot, offset: start };
    mesh.peers[rank]!.outbound!.send(header, bytesOf(from.values, start - from.base, end - from.base));
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

  /** Returns a slot's sum: an own leaf, or the sum that another rank sent. */
  private operand(slot: number): Operand {
    const { first, end } = this.leaves;
    if (slot >= first && slot < end) return { values: this.operation.input.local[slot - first]!, base: 0 };
    return { values: this.received(slot), base: this.whole.start };
  }

  private received(slot: number): Float32Array {
    return this.operation.staging.get(this.slots + slot);
  }

  /** Returns the stage of a frame; `undefined` if it belongs to none. */
  private stageOf(rank: number, type: FrameHeader["type"], slot: number): number | undefined {
    const last = this.stages.count - 1;
    if (type === frameTypes.sum) {
      if (rank === this.role.server) return last;
      const theirs = this.halving.roles[rank]!.place;
      if (theirs === undefined || this.role.place === undefined) return undefined;
      const step = Math.log2(theirs ^ this.role.place);
      return Number.isInteger(step) ? 1 + this.steps + step : undefined;
    }
    if (slot === this.leafCount + this.steps) return type === frameTypes.begin ? last : undefined;
    if (slot > this.leafCount + this.steps) return undefined;
    return slot < this.leafCount ? 0 : 1 + slot - this.leafCount;
  }

  /** Returns the span that `rank` sends in a stage. */
  private awaited(stage: number, rank: number): Span {
    const { place } = this.role;
    if (stage === 0 || place === undefined) return this.whole;
    if (stage <= this.steps) return halvingSpan(this.whole, place, stage);
    return halvingSpan(this.whole, this.halving.roles[rank]!.place!, stage - this.steps);
  }

  private expectFrames(): void {
    const { place, takes, server } = this.role;
    const { stages, steps } = this;
    for (const rank of new Set(takes.map((entry) => entry.rank))) stages.expect(0, rank, 1);
    for (const { rank } of takes) stages.expect(0, rank, this.chunks(this.whole));
    // One `begin`, then the chunks of each span that the server receives.
    if (server !== undefined) stages.expect(stages.count - 1, server, 1 + this.served(server));
    if (place === undefined) return;
    for (let k = 0; k < steps; k++) {
      const partner = this.halving.hosts[place ^ (1 << k)]!;
      stages.expect(1 + k, partner, 1 + this.chunks(halvingSpan(this.whole, place, k + 1)));
      stages.expect(1 + steps + k, partner, this.chunks(halvingSpan(this.whole, place ^ (1 << k), k + 1)));
    }
  }

  /** Counts the frames of sums that a host sends to a guest: chunks of its own span, then of each received span. */
  private served(host: number): number {
    const place = this.halving.roles[host]!.place!;
    let chunks = this.chunks(halvingSpan(this.whole, place, this.steps));
    for (let k = 0; k < this.steps; k++) chunks += this.chunks(halvingSpan(this.whole, place ^ (1 << k), k + 1));
    return chunks;
  }

  private chunks(span: Span): number {
    return chunkCount(span, this.operation.chunkElements);
  }
}

/** A vector whose memory holds the elements from `base` on. */
interface Operand {
  readonly values: Float32Array;
  readonly base: number;
}
