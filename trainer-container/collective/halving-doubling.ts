import type { HalvingPlan, HalvingRole } from "../../core/training/reduction/halving";
import type { ReductionPlan } from "../../core/training/reduction/plan";
import type { Addition } from "../../core/training/reduction/tree";
import type { GenerationLostError } from "../gang/gang";
import { type Add, add as addFloats } from "./add";
import type { AllReduceInput, AllReduceResult } from "./all-reduce";
import { bytesOf, type FrameHeader, frameTypes } from "./frame";
import { halvingSpan } from "./halving-span";
import type { Mesh, Operation } from "./mesh";
import { chunkCount, chunkOf, type Span } from "./segments";
import type { Staging } from "./staging";

const nothing = Buffer.alloc(0);
/** Elements added or sent between two looks at the sockets. */
const elementsPerTurn = 256 * 1024;

/** What a stage still waits for, and what has come for it. */
interface Stage {
  /** Frames, by rank. */
  readonly owed: Map<number, number>;
  /** Spans that have arrived and are not added yet. */
  readonly arrived: Span[];
  left: number;
}

/**
 * All-reduce in 2·log2 P message latencies instead of two, with log2 P peers instead of W − 1. Stages, in order:
 *
 * - *give*: guests send their partial sums to hosts (only where W is no power of two);
 * - *halve k* = 0, 1, …: hosts at distance 2^k exchange the halves of what they still hold, and each adds one: one level of the canonical tree;
 * - *double k* = …, 1, 0: the same pairs exchange final sums, by twice as much each time;
 * - *serve*: guests receive the final sums as their host comes to know them.
 *
 * Signals and agreement travel along: each `begin` carries the OR of all that its sender has heard, and the graph of stages is connected, so that
 * any disagreement is met by some pair. A frame is told from others of its sender by its slot: below V it is a leaf's, V + k is stage k of halving.
 *
 * No memory is written after it was sent from: each halving sends what it will not add to again, each doubling what is final.
 */
export class HalvingDoubling implements Operation {
  private readonly elements: number;
  private readonly steps: number;
  private readonly role: HalvingRole;
  private readonly leafCount: number;
  private readonly add: Add;
  /** By number: `give` is 0, `halve k` is 1 + k, `double k` is 1 + steps + k, `serve` the last. */
  private readonly stages: Stage[];
  private readonly owed: number[];
  private current = -1;
  private wake: (() => void) | undefined;
  private signals: number;
  private failure: GenerationLostError | undefined;
  private issued = false;
  private busyMs = 0;
  private number = 0;
  private settle: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(
    private readonly mesh: Mesh,
    private readonly plan: ReductionPlan,
    private readonly halving: HalvingPlan,
    private readonly input: AllReduceInput,
    private readonly chunkElements: number,
    private readonly staging: Staging,
  ) {
    this.elements = input.out.length;
    this.steps = Math.log2(halving.hosts.length);
    this.role = halving.roles[mesh.options.rank];
    this.leafCount = plan.leafCount;
    this.add = input.add ?? addFloats;
    this.signals = input.signals;
    this.owed = new Array<number>(plan.worldSize).fill(0);
    this.stages = Array.from({ length: 2 + 2 * this.steps }, () => ({ owed: new Map(), arrived: [], left: 0 }));
    this.expectFrames();
  }

  /** @throws GenerationLostError */
  static async run(
    mesh: Mesh,
    plan: ReductionPlan,
    halving: HalvingPlan,
    input: AllReduceInput,
    chunkElements: number,
    staging: Staging,
  ): Promise<AllReduceResult> {
    const startedAt = mesh.options.now();
    const operation = new HalvingDoubling(mesh, plan, halving, input, chunkElements, staging);
    operation.number = mesh.begin(operation);
    operation.reserve();
    try {
      const done = new Promise<void>((resolve, reject) => {
        operation.settle = { resolve, reject };
      });
      mesh.takeHeldFrames();
      await Promise.all([done, operation.go()]);
    } finally {
      mesh.end(operation);
    }
    return { signals: operation.signals, waitMs: mesh.options.now() - startedAt - operation.busyMs };
  }

  place(rank: number, header: FrameHeader): Buffer {
    if (header.type === frameTypes.begin) return nothing;
    const { offset, slot, type } = header;
    const span = { start: offset, end: offset + header.bytes / 4 };
    const stage = this.stageOf(rank, header);
    if (stage === undefined || !this.stages[stage].owed.has(rank)) {
      throw new Error(`rank ${rank} sent a frame of type ${type} for slot ${slot}, which this rank does not await`);
    }
    const within = this.awaited(stage, rank);
    requireWithin(within, span);
    if (type === frameTypes.sum) return bytesOf(this.input.out, span.start, span.end);
    if (stage === 0 && !this.role.takes.some((parcel) => parcel.rank === rank && parcel.slot === slot)) {
      throw new Error(`rank ${rank} sent slot ${slot}, which is not its own`);
    }
    return bytesOf(this.staging.get(slot), span.start - within.start, span.end - within.start);
  }

  complete(rank: number, header: FrameHeader): void {
    if (header.type === frameTypes.begin) {
      this.requireSame(rank, "elements", header.offset, this.elements);
      this.requireSame(rank, "finished steps", header.finishedSteps, this.input.finishedSteps);
      this.signals |= header.signals;
    }
    const index = this.stageOf(rank, header);
    const stage = index === undefined ? undefined : this.stages[index];
    const owed = stage?.owed.get(rank) ?? 0;
    if (!stage || owed === 0) throw new Error(`rank ${rank} sent more frames than this rank awaits`);
    stage.owed.set(rank, owed - 1);
    stage.left--;
    this.owed[rank]--;
    if (header.bytes > 0) stage.arrived.push({ start: header.offset, end: header.offset + header.bytes / 4 });
    if (index === this.current) this.wake?.();
  }

  owes(rank: number): boolean {
    return this.owed[rank] > 0;
  }

  flushed(): void {
    if (this.issued && this.mesh.pendingWrites === 0) this.settle?.resolve();
  }

  fail(error: GenerationLostError): void {
    this.failure = error;
    this.wake?.();
    this.settle?.reject(error);
  }

  private async go(): Promise<void> {
    const whole = { start: 0, end: this.elements };
    const { place, gives, takes, guests } = this.role;
    if (gives.length > 0) {
      for (const rank of new Set(gives.map((parcel) => parcel.rank))) this.begin(rank, 0);
      await this.inTurns(whole, (chunk) => {
        this.addOwnLeaves(chunk);
        for (const { slot, rank } of gives) this.send(rank, frameTypes.partial, slot, this.leaf(slot), chunk);
      });
    }
    const prepare = (chunk: Span) => {
      if (gives.length === 0) this.addOwnLeaves(chunk);
      this.addSubtree(chunk);
    };
    if (place === undefined) {
      await this.receive(this.stages.length - 1, () => {});
    } else {
      if (takes.length > 0) await this.receive(0, () => {});
      for (let k = 0; k < this.steps && !this.failure; k++) await this.halve(place, k, k === 0 ? prepare : () => {});
      for (const guest of guests) this.begin(guest, this.leafCount + this.steps);
      this.serve(halvingSpan(this.elements, place, this.steps));
      for (let k = this.steps - 1; k >= 0 && !this.failure; k--) await this.double(place, k);
    }
    this.issued = true;
    this.flushed();
  }

  private async halve(place: number, k: number, prepare: (chunk: Span) => void): Promise<void> {
    const partner = this.halving.hosts[place ^ (1 << k)];
    const kept = halvingSpan(this.elements, place, k + 1);
    const slot = this.leafCount + k;
    const sum = this.leaf(this.rootSlot(place));
    this.begin(partner, slot);
    await this.inTurns(halvingSpan(this.elements, place ^ (1 << k), k + 1), (chunk) => {
      prepare(chunk);
      this.send(partner, frameTypes.partial, slot, sum, chunk);
    });
    await this.inTurns(kept, prepare);
    const into = k === this.steps - 1 ? this.input.out : sum;
    await this.receive(1 + k, ({ start, end }) => {
      const theirs = this.staging.get(slot);
      this.timed(() => this.add(into, start, sum, start, theirs, start - kept.start, end - start, start));
    });
  }

  private async double(place: number, k: number): Promise<void> {
    const partner = this.halving.hosts[place ^ (1 << k)];
    await this.inTurns(halvingSpan(this.elements, place, k + 1), (chunk) =>
      this.send(partner, frameTypes.sum, 0, this.input.out, chunk),
    );
    await this.receive(1 + this.steps + k, (span) => this.serve(span));
  }

  /** Passes final sums on to the guests. */
  private serve(span: Span): void {
    for (let index = 0; index < chunkCount(span, this.chunkElements); index++) {
      const chunk = chunkOf(span, index, this.chunkElements);
      for (const guest of this.role.guests) this.send(guest, frameTypes.sum, 0, this.input.out, chunk);
    }
  }

  /** Until all frames of a stage are there; `take` gets each span once, as soon as it is there and its stage has come. */
  private async receive(index: number, take: (span: Span) => void): Promise<void> {
    const stage = this.stages[index];
    this.current = index;
    while (!this.failure) {
      for (const span of stage.arrived.splice(0)) take(span);
      if (stage.left === 0) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
  }

  /** Chunk by chunk, with looks at the sockets in between. */
  private async inTurns(span: Span, work: (chunk: Span) => void): Promise<void> {
    let sinceYield = 0;
    for (let index = 0; index < chunkCount(span, this.chunkElements) && !this.failure; index++) {
      const chunk = chunkOf(span, index, this.chunkElements);
      work(chunk);
      sinceYield += chunk.end - chunk.start;
      if (sinceYield >= elementsPerTurn) {
        sinceYield = 0;
        await new Promise(setImmediate);
      }
    }
  }

  private begin(rank: number, slot: number): void {
    const { signals, elements: offset, number: operation } = this;
    const { finishedSteps } = this.input;
    this.mesh.peers[rank]!.outbound!.send({ type: frameTypes.begin, operation, slot, signals, finishedSteps, offset });
  }

  private send(
    rank: number,
    type: typeof frameTypes.partial | typeof frameTypes.sum,
    slot: number,
    from: Float32Array,
    chunk: Span,
  ): void {
    const payload = bytesOf(from, chunk.start, chunk.end);
    this.mesh.peers[rank]!.outbound!.send({ type, operation: this.number, slot, offset: chunk.start }, payload);
  }

  private addOwnLeaves(chunk: Span): void {
    const { additions } = this.plan.ranks[this.mesh.options.rank];
    this.addNodes(additions, (slot) => this.leaf(slot), chunk);
  }

  private addSubtree(chunk: Span): void {
    if (this.role.additions.length === 0) return;
    const { leaves } = this.plan.ranks[this.mesh.options.rank];
    const own = (slot: number) => slot >= leaves.first && slot < leaves.end;
    this.addNodes(this.role.additions, (slot) => (own(slot) ? this.leaf(slot) : this.staging.get(slot)), chunk);
  }

  private addNodes(
    additions: readonly Addition[],
    operand: (slot: number) => Float32Array,
    { start, end }: Span,
  ): void {
    this.timed(() => {
      for (const { into, from } of additions) {
        const sum = operand(into);
        this.add(sum, start, sum, start, operand(from), start, end - start, start);
      }
    });
  }

  private leaf(slot: number): Float32Array {
    return this.input.local[slot - this.plan.ranks[this.mesh.options.rank].leaves.first];
  }

  private rootSlot(place: number): number {
    return (place * this.leafCount) / this.halving.hosts.length;
  }

  /** Which stage a frame belongs to; `undefined` where it can belong to none. */
  private stageOf(rank: number, { type, slot }: FrameHeader): number | undefined {
    const last = this.stages.length - 1;
    if (type === frameTypes.sum) {
      if (rank === this.role.server) return last;
      const theirs = this.halving.roles[rank].place;
      if (theirs === undefined || this.role.place === undefined) return undefined;
      const step = Math.log2(theirs ^ this.role.place);
      return Number.isInteger(step) ? 1 + this.steps + step : undefined;
    }
    if (slot === this.leafCount + this.steps) return last;
    if (slot > this.leafCount + this.steps) return undefined;
    return slot < this.leafCount ? 0 : 1 + slot - this.leafCount;
  }

  /** What `rank` sends of the vector in a stage. */
  private awaited(stage: number, rank: number): Span {
    const { place } = this.role;
    if (stage === 0 || place === undefined) return { start: 0, end: this.elements };
    if (stage <= this.steps) return halvingSpan(this.elements, place, stage);
    return halvingSpan(this.elements, this.halving.roles[rank].place!, stage - this.steps);
  }

  private expectFrames(): void {
    const { place, takes, server } = this.role;
    for (const { rank } of takes) this.expect(0, rank, this.stages[0].owed.has(rank) ? 0 : 1);
    if (server !== undefined) {
      // Chunks are cut within each span that the server comes to know.
      this.expect(this.stages.length - 1, server, 1 + this.servedChunks(this.halving.roles[server].place!));
    }
    if (place === undefined) return;
    for (let k = 0; k < this.steps; k++) {
      const partner = this.halving.hosts[place ^ (1 << k)];
      this.expect(1 + k, partner, 1);
      this.expect(1 + this.steps + k, partner, 0);
    }
  }

  /** @param more frames besides the chunks of what is awaited of that rank; for the last stage, all. */
  private expect(index: number, rank: number, more: number): void {
    const served = index === this.stages.length - 1;
    const frames = more + (served ? 0 : chunkCount(this.awaited(index, rank), this.chunkElements));
    const stage = this.stages[index];
    stage.owed.set(rank, (stage.owed.get(rank) ?? 0) + frames);
    stage.left += frames;
    this.owed[rank] += frames;
  }

  /** Frames that a host sends to a guest: chunks of its own span, then chunk by chunk what it receives. */
  private servedChunks(host: number): number {
    let chunks = chunkCount(halvingSpan(this.elements, host, this.steps), this.chunkElements);
    for (let k = 0; k < this.steps; k++) {
      chunks += chunkCount(halvingSpan(this.elements, host ^ (1 << k), k + 1), this.chunkElements);
    }
    return chunks;
  }

  /** After `begin`, as for the direct exchange. */
  private reserve(): void {
    const { place, takes } = this.role;
    for (const { slot } of takes) this.staging.reserve(slot, this.elements);
    if (place === undefined) return;
    for (let k = 0; k < this.steps; k++) {
      const { start, end } = halvingSpan(this.elements, place, k + 1);
      this.staging.reserve(this.leafCount + k, end - start);
    }
  }

  private timed(work: () => void): void {
    const start = this.mesh.options.now();
    work();
    this.busyMs += this.mesh.options.now() - start;
  }

  private requireSame(rank: number, what: string, theirs: number, ours: number): void {
    if (theirs !== ours) throw new Error(`rank ${rank} has ${theirs} ${what}, but this rank ${ours}`);
  }
}

function requireWithin(within: Span, { start, end }: Span): void {
  if (!(Number.isSafeInteger(start) && start >= within.start && end >= start && end <= within.end)) {
    throw new Error(`a frame holds elements [${start}, ${end}), which are not all in [${within.start}, ${within.end})`);
  }
}
