import { add } from "../kernels/add";
import type { Staging } from "../kernels/sum-memory";
import { bytesOf } from "../kernels/sum-memory";
import type { ReductionPlan } from "../reduction/plan";
import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";
import { AnnouncedOperation } from "./mesh-operation";
import { chunkCount, chunkOf, type Span } from "./segments";

export interface ReduceScatterInput {
  /** This rank's leaves. They may be overwritten. */
  readonly local: readonly Float32Array[];
  /** By rank; together they cover all elements of a leaf, in order. Some may be empty. */
  readonly segments: readonly Span[];
  /** Gets the sum of the own segment. */
  readonly own: Float32Array;
  /** Gets the sum of the previous rank's segment; unused if there is one rank. */
  readonly copy: Float32Array;
  readonly signals: number;
  readonly finishedSteps: number;
}

/** Elements added and sent between two checks of the sockets. */
const elementsPerTurn = 256 * 1024;

/** Like `AllReduce`, but a chunk's sum goes to one rank: each segment ends on its owner and the next rank. */
export class ReduceScatter extends AnnouncedOperation {
  private readonly own: Span;
  private readonly before: number;
  private readonly after: number;
  /** For each chunk of the own segment, the number of missing partial sums; the own ones count as one. */
  private readonly missing: number[];
  private chunksLeft: number;

  private constructor(
    mesh: Mesh,
    private readonly plan: ReductionPlan,
    private readonly input: ReduceScatterInput,
    private readonly chunkElements: number,
    private readonly staging: Staging,
  ) {
    const elements = input.segments.at(-1)!.end;
    super(mesh, { signals: input.signals, finishedSteps: input.finishedSteps, elements });
    const { rank } = mesh.options;
    const { worldSize, ranks } = plan;
    this.own = input.segments[rank]!;
    this.before = (rank + worldSize - 1) % worldSize;
    this.after = (rank + 1) % worldSize;
    const chunks = chunkCount(this.own, chunkElements);
    let foreign = 0;
    for (const peer of mesh.others()) {
      const { length } = ranks[peer.rank]!.partials;
      foreign += length;
      this.owed[peer.rank]! += length * chunks;
      if (peer.rank === this.before) this.owed[peer.rank]! += chunkCount(input.segments[peer.rank]!, chunkElements);
    }
    this.missing = new Array<number>(chunks).fill(foreign + 1);
    this.chunksLeft = chunks;
  }

  /** @returns the signals that each rank raised. @throws GenerationLostError */
  static async run(
    mesh: Mesh,
    plan: ReductionPlan,
    input: ReduceScatterInput,
    chunkElements: number,
    staging: Staging,
  ): Promise<readonly number[]> {
    const operation = new ReduceScatter(mesh, plan, input, chunkElements, staging);
    operation.enter();
    await operation.untilEnd();
    return operation.signalsByRank;
  }

  protected override reserve(): void {
    for (const peer of this.mesh.others()) {
      for (const slot of this.plan.ranks[peer.rank]!.partials)
        this.staging.reserve(slot, this.own.end - this.own.start);
    }
  }

  protected placeData(rank: number, { type, slot, offset, bytes }: FrameHeader): Buffer {
    const end = offset + bytes / 4;
    const sum = type === frameTypes.sum && rank === this.before;
    const partial = type === frameTypes.partial && this.plan.ranks[rank]!.partials.includes(slot);
    const span = sum ? this.input.segments[rank]! : this.own;
    if (!(sum || partial) || !(Number.isSafeInteger(offset) && offset >= span.start && end <= span.end)) {
      throw new Error(`rank ${rank} sent elements [${offset}, ${end}) of slot ${slot}, which are not awaited here`);
    }
    return bytesOf(sum ? this.input.copy : this.staging.get(slot), offset - span.start, end - span.start);
  }

  protected override dataArrived(_rank: number, { type, offset }: FrameHeader): void {
    if (type === frameTypes.partial) this.arrived(Math.floor((offset - this.own.start) / this.chunkElements));
  }

  protected override isComputed(): boolean {
    return this.chunksLeft === 0;
  }

  /** Adds own leaves and sends partial sums, the first chunks of all segments first, so that all owners start early. */
  protected async issue(): Promise<void> {
    const { worldSize, ranks } = this.plan;
    const { rank } = this.mesh.options;
    const { local, segments } = this.input;
    const { partials, leaves } = ranks[rank]!;
    const rounds = Math.max(...segments.map((segment) => chunkCount(segment, this.chunkElements)));
    let sinceYield = 0;
    for (let index = 0; index < rounds; index++) {
      for (let step = 1; step <= worldSize; step++) {
        if (this.failure) return;
        const owner = (rank + step) % worldSize;
        if (index >= chunkCount(segments[owner]!, this.chunkElements)) continue;
        const chunk = chunkOf(segments[owner]!, index, this.chunkElements);
        this.addOwnLeaves(chunk);
        if (owner === rank) {
          this.arrived(index);
        } else {
          for (const slot of partials) {
            this.mesh.peers[owner]!.outbound!.send(
              { type: frameTypes.partial, operation: this.number, slot, offset: chunk.start },
              bytesOf(local[slot - leaves.first]!, chunk.start, chunk.end),
            );
          }
        }
        sinceYield += chunk.end - chunk.start;
        if (sinceYield < elementsPerTurn) continue;
        sinceYield = 0;
        await new Promise(setImmediate);
      }
    }
  }

  private arrived(chunkIndex: number): void {
    if (--this.missing[chunkIndex]! > 0) return;
    const chunk = chunkOf(this.own, chunkIndex, this.chunkElements);
    this.combine(chunk);
    this.chunksLeft--;
    if (this.plan.worldSize === 1) return;
    this.mesh.peers[this.after]!.outbound!.send(
      { type: frameTypes.sum, operation: this.number, offset: chunk.start },
      bytesOf(this.input.own, chunk.start - this.own.start, chunk.end - this.own.start),
    );
  }

  private addOwnLeaves(chunk: Span): void {
    const { additions, leaves } = this.plan.ranks[this.mesh.options.rank]!;
    const slot = (leaf: number) => this.input.local[leaf - leaves.first]!;
    const length = chunk.end - chunk.start;
    for (const { into, from } of additions) {
      add(slot(into), chunk.start, slot(into), chunk.start, slot(from), chunk.start, length);
    }
  }

  /** Adds the nodes above the partial sums. The root is written to `own`. */
  private combine(chunk: Span): void {
    const { combine, ranks } = this.plan;
    const mine = ranks[this.mesh.options.rank]!.leaves;
    const at = chunk.start - this.own.start;
    const length = chunk.end - chunk.start;
    const { own, local } = this.input;
    if (combine.length === 0) own.set(local[0]!.subarray(chunk.start, chunk.end), at); // one rank: all is added
    const operand = (slot: number): readonly [Float32Array, number] =>
      slot >= mine.first && slot < mine.end ? [local[slot - mine.first]!, chunk.start] : [this.staging.get(slot), at];
    combine.forEach(({ into, from }, i) => {
      const [a, aAt] = operand(into);
      const [b, bAt] = operand(from);
      const root = i === combine.length - 1;
      add(root ? own : a, root ? at : aAt, a, aAt, b, bAt, length);
    });
  }
}
