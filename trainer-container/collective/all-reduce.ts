import { type Add, add as addFloats } from "../kernels/add";
import type { Staging } from "../kernels/sum-memory";
import { bytesOf } from "../kernels/sum-memory";
import type { Addition, ReductionPlan } from "../reduction/plan";
import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";
import { AnnouncedOperation } from "./mesh-operation";
import { chunkCount, chunkOf, FinalRanges, type Span, segmentOf } from "./segments";

export interface AllReduceInput {
  /** This rank's leaves, or the sums of its subtrees (`Collective.subtrees`). */
  readonly local: readonly Float32Array[];
  readonly out: Float32Array;
  /** Default: float32. The vectors may hold other words. All ranks must use the same addition. */
  readonly add?: Add;
  readonly signals: number;
  readonly finishedSteps: number;
}

export interface AllReduceResult {
  /** The OR over all ranks. */
  readonly signals: number;
  /** Milliseconds not spent on additions. */
  readonly waitMs: number;
}

/**
 * Maximum of an exchange: two ranks with one partial sum each send all of it, and both add: the same bytes in one
 * latency instead of two. Only the root may remain to be added, because sockets still read the memory.
 */
const exchangeElements = 128 * 1024;
/** Elements added and sent between two checks of the sockets. */
const elementsPerTurn = 1024 * 1024;

/** Direct reduce-scatter and all-gather, chunk by chunk: a sum is sent as soon as its partials have arrived. */
export class AllReduce extends AnnouncedOperation {
  private readonly elements: number;
  private readonly own: Span;
  /** Whether this is an exchange, see `exchangeElements`; all ranks decide alike. */
  private readonly exchange: boolean;
  /** For each chunk of the own segment, the number of missing partial sums; the own ones count as one. */
  private readonly missing: number[];
  private readonly slots: Staging;
  private chunksLeft: number;
  private readonly segments: readonly Span[];
  private readonly chunksIssued: boolean[][];
  private readonly final = new FinalRanges();
  /** Leaf whose slot each entry of `local` is. */
  private readonly localSlots: readonly number[];

  private constructor(
    mesh: Mesh,
    private readonly plan: ReductionPlan,
    private readonly input: AllReduceInput,
    private readonly chunkElements: number,
    staging: Staging,
  ) {
    const { signals, finishedSteps, out } = input;
    super(mesh, { signals, finishedSteps, elements: out.length });
    const { rank } = mesh.options;
    this.elements = out.length;
    const { leaves, partials } = plan.ranks[rank]!;
    const count = leaves.end - leaves.first;
    this.localSlots =
      input.local.length === count ? Array.from({ length: count }, (_, index) => leaves.first + index) : partials;
    this.exchange = plan.combine.length === 1 && this.elements <= exchangeElements;
    this.own = this.segment(rank);
    this.slots = staging;
    const chunks = chunkCount(this.own, chunkElements);
    let foreign = 0;
    plan.ranks.forEach(({ partials }, other) => {
      if (other === rank) return;
      foreign += partials.length;
      const sums = this.exchange ? 0 : chunkCount(this.segment(other), chunkElements);
      this.owed[other]! += partials.length * chunks + sums;
    });
    this.segments = plan.ranks.map((_, owner) => this.segment(owner));
    this.chunksIssued = this.segments.map((segment) =>
      new Array<boolean>(chunkCount(segment, chunkElements)).fill(false),
    );
    this.missing = new Array<number>(chunks).fill(foreign + 1);
    this.chunksLeft = chunks;
  }

  /**
   * Begins before all leaves are final: `ready` reports final elements, `finish` the rest.
   * @throws GenerationLostError
   */
  static begin(
    mesh: Mesh,
    plan: ReductionPlan,
    input: AllReduceInput,
    chunkElements: number,
    staging: Staging,
  ): AllReduce {
    const operation = new AllReduce(mesh, plan, input, chunkElements, staging);
    operation.enter();
    return operation;
  }

  /** Elements [start, end) of all own leaves are final; sent before this returns. `finish` reports failures. */
  ready(start: number, end: number): void {
    if (this.exchange || this.failure) return;
    this.final.add({ start, end });
    this.segments.forEach((segment, owner) => {
      for (let index = 0; index < this.chunksIssued[owner]!.length; index++) {
        if (!this.chunksIssued[owner]![index] && this.final.covers(chunkOf(segment, index, this.chunkElements))) {
          this.issueChunk(owner, index);
        }
      }
    });
    for (const peer of this.mesh.others()) peer.outbound!.flush();
  }

  /** @throws GenerationLostError */
  async finish(): Promise<AllReduceResult> {
    const startedAt = this.mesh.options.now();
    this.busyMs = 0;
    await this.untilEnd();
    const signals = this.signalsByRank.reduce((all, one) => all | one);
    return { signals, waitMs: this.mesh.options.now() - startedAt - this.busyMs };
  }

  protected placeData(rank: number, { offset, slot, type, bytes }: FrameHeader): Buffer {
    const end = offset + bytes / 4;
    if (type === frameTypes.sum) {
      this.requireWithin(this.segment(rank), offset, end);
      return bytesOf(this.input.out, offset, end);
    }
    this.requireWithin(this.own, offset, end);
    if (type !== frameTypes.partial || !this.plan.ranks[rank]!.partials.includes(slot)) {
      throw new Error(`rank ${rank} sent a frame of type ${type} for slot ${slot}, which is not its own`);
    }
    return bytesOf(this.slots.get(slot), offset - this.own.start, end - this.own.start);
  }

  protected override dataArrived(_rank: number, { type, offset }: FrameHeader): void {
    if (type === frameTypes.partial) this.arrived(Math.floor((offset - this.own.start) / this.chunkElements));
  }

  protected override isComputed(): boolean {
    return this.chunksLeft === 0;
  }

  /** Adds own leaves and sends partial sums, the first chunks of all segments first, so that all owners start early. */
  protected async issue(): Promise<void> {
    const { worldSize } = this.plan;
    const { rank } = this.mesh.options;
    const rounds = Math.max(...this.chunksIssued.map((chunks) => chunks.length));
    let sinceYield = 0;
    for (let index = 0; index < rounds && !this.failure; index++) {
      for (let step = 1; step <= worldSize; step++) {
        const owner = (rank + step) % worldSize;
        if (this.chunksIssued[owner]![index] !== false) continue;
        sinceYield += this.issueChunk(owner, index);
        if (sinceYield >= elementsPerTurn) {
          sinceYield = 0;
          await new Promise(setImmediate);
          if (this.failure) return;
        }
      }
    }
  }

  /** @returns the number of its elements */
  private issueChunk(owner: number, index: number): number {
    const { rank } = this.mesh.options;
    const { partials } = this.plan.ranks[rank]!;
    const chunk = chunkOf(this.segments[owner]!, index, this.chunkElements);
    this.chunksIssued[owner]![index] = true;
    // In an exchange all segments are the same one: it is added once, when its first chunk is sent.
    if (!this.exchange || owner !== rank) this.addOwnLeaves(chunk);
    if (owner === rank) {
      this.arrived(index);
    } else {
      for (const slot of partials) {
        this.mesh.peers[owner]!.outbound!.send(
          { type: frameTypes.partial, operation: this.number, slot, offset: chunk.start },
          bytesOf(this.localSlot(slot)!, chunk.start, chunk.end),
        );
      }
    }
    return chunk.end - chunk.start;
  }

  private arrived(chunkIndex: number): void {
    if (--this.missing[chunkIndex]! > 0) return;
    const chunk = chunkOf(this.own, chunkIndex, this.chunkElements);
    this.combine(chunk);
    this.chunksLeft--;
    if (this.exchange) return;
    for (const peer of this.mesh.others()) {
      peer.outbound!.send(
        { type: frameTypes.sum, operation: this.number, offset: chunk.start },
        bytesOf(this.input.out, chunk.start, chunk.end),
      );
    }
  }

  private addOwnLeaves(chunk: Span): void {
    const { additions: all } = this.plan.ranks[this.mesh.options.rank]!;
    const additions = all.filter(({ from }) => this.localSlots.includes(from)); // none if the sums were passed
    const slot = (leaf: number) => this.localSlot(leaf)!;
    const { add = addFloats } = this.input;
    const alone = this.plan.worldSize === 1;
    const length = chunk.end - chunk.start;
    this.timed(() => {
      for (const { into, from, end } of additions) {
        const root = alone && end - into === this.plan.leafCount;
        const target = root ? this.input.out : slot(into);
        add(target, chunk.start, slot(into), chunk.start, slot(from), chunk.start, length, chunk.start);
      }
      // With one leaf, the caller may request the sum in the leaf's own memory.
      if (alone && additions.length === 0 && !isSameMemory(this.input.out, slot(0))) {
        this.input.out.set(slot(0).subarray(chunk.start, chunk.end), chunk.start);
      }
    });
  }

  /** Adds the nodes above the partial sums. The root is written to `out`. */
  private combine(chunk: Span): void {
    const { combine } = this.plan;
    const { add = addFloats } = this.input;
    const operand = (slot: number): readonly [Float32Array, number] => {
      const local = this.localSlot(slot);
      return local ? [local, chunk.start] : [this.slots.get(slot), chunk.start - this.own.start];
    };
    this.timed(() => {
      combine.forEach(({ into, from }: Addition, i) => {
        const [a, aAt] = operand(into);
        const [b, bAt] = operand(from);
        const root = i === combine.length - 1;
        const [target, targetAt] = root ? [this.input.out, chunk.start] : [a, aAt];
        add(target, targetAt, a, aAt, b, bAt, chunk.end - chunk.start, chunk.start);
      });
    });
  }

  /** Returns this rank's vector in a slot; undefined if the slot is another rank's. */
  private localSlot(slot: number): Float32Array | undefined {
    return this.input.local[this.localSlots.indexOf(slot)];
  }

  private segment(rank: number): Span {
    return this.exchange ? { start: 0, end: this.elements } : segmentOf(this.elements, this.plan.worldSize, rank);
  }

  protected override reserve(): void {
    const length = this.own.end - this.own.start;
    this.plan.ranks.forEach(({ partials }, rank) => {
      if (rank === this.mesh.options.rank) return;
      for (const slot of partials) this.slots.reserve(slot, length);
    });
  }

  private requireWithin(span: Span, start: number, end: number): void {
    if (!(Number.isSafeInteger(start) && start >= span.start && end >= start && end <= span.end)) {
      throw new Error(`a frame holds elements [${start}, ${end}), which are not all in [${span.start}, ${span.end})`);
    }
  }
}

const isSameMemory = (a: Float32Array, b: Float32Array): boolean =>
  a.buffer === b.buffer && a.byteOffset === b.byteOffset;
