import { Collective } from "../collective/collective";
import { GenerationLostError } from "../collective/errors";
import type { Mesh } from "../collective/mesh";
import type { MessagesInput } from "../collective/messages";
import type { ReduceScatterInput } from "../collective/reduce-scatter";
import type { Add } from "../kernels/add";
import { type BegunSum, type GangMember, type Generation, type LeafRange, stateSource } from "./gang";
import type { GangHead } from "./store";
import { Slowest } from "./timing";

/** Smaller sums are too short for an overlap: docs/adr/007-micro-batches.md. */
const overlapElements = 256 * 1024;

export class MeshGeneration implements Generation {
  readonly number: number;
  readonly rank: number;
  readonly worldSize: number;
  readonly members: readonly GangMember[];
  readonly leaves: LeafRange;
  private readonly collective: Collective;
  /** Awaited before a step counts. */
  checkFreeze: (() => Promise<void>) | undefined;
  private abandoned: GenerationLostError | undefined;
  private raised = 0;
  private waitMs = 0;
  private readonly microBatch = new Slowest();
  /** End of the previous operation. */
  private restedAt: number;

  constructor(
    head: GangHead,
    private readonly mesh: Mesh,
    chunkElements: number | undefined,
    private readonly onClose: () => void,
  ) {
    this.number = head.number;
    this.rank = mesh.options.rank;
    this.worldSize = mesh.worldSize;
    this.members = head.members.map((member, rank) => ({ ...member, rank }));
    this.collective = new Collective(mesh, chunkElements);
    this.leaves = this.collective.plan.ranks[this.rank]!.leaves;
    this.restedAt = mesh.options.now();
  }

  get subtrees(): readonly LeafRange[] | undefined {
    return this.collective.subtrees;
  }

  get traffic() {
    return { bytesSent: this.mesh.bytesSent, waitMs: this.waitMs };
  }

  get lost(): GenerationLostError | undefined {
    return this.mesh.lost;
  }

  departed(rank: number): boolean {
    return this.mesh.peers[rank]?.departed ?? false;
  }

  /** Milliseconds to compute a micro-batch: the recent maximum. */
  get microBatchMs(): number {
    return this.microBatch.value;
  }

  raise(signal: number): void {
    this.raised |= signal;
  }

  /** Ends the generation here and at all peers. */
  abandon(reason: string): void {
    this.abandoned ??= new GenerationLostError(this.number, undefined, reason);
    this.mesh.abort(this.abandoned);
  }

  async allReduce(
    local: readonly Float32Array[],
    out: Float32Array,
    signals: number,
    finishedSteps: number,
    add?: Add,
  ): Promise<number> {
    const raised = signals | this.raised;
    const input = { local, out, signals: raised, finishedSteps, ...(add && { add }) };
    const result = await this.counting(() => this.collective.allReduce(input));
    this.waitMs += result.waitMs;
    return result.signals;
  }

  beginAllReduce(
    local: readonly Float32Array[],
    out: Float32Array,
    signals: number,
    finishedSteps: number,
  ): BegunSum | undefined {
    if (this.worldSize === 1 || out.length < overlapElements) return undefined;
    const sum = this.collective.beginAllReduce({ local, out, signals: signals | this.raised, finishedSteps });
    return {
      ready: (start, end) => sum.ready(start, end),
      finish: async () => {
        const result = await this.counting(() => sum.finish());
        this.waitMs += result.waitMs;
        return result.signals;
      },
    };
  }

  async synchronize(state: readonly Float32Array[], finishedSteps: number): Promise<number> {
    const sealed = this.members[this.rank]!.finishedSteps;
    if (finishedSteps !== sealed) {
      throw new RangeError(`synchronize got ${finishedSteps} finished steps, but enter got ${sealed}`);
    }
    const from = stateSource(this.members.map((member) => member.finishedSteps));
    if (from.behind.length > 0) await this.collective.transferState({ state, ...from });
    return from.finishedSteps;
  }

  reduceScatter(input: ReduceScatterInput): Promise<readonly number[]> {
    const signals = input.signals | this.raised;
    return this.timed(this.counting(() => this.collective.reduceScatter({ ...input, signals })));
  }

  exchange(input: MessagesInput): Promise<void> {
    return this.timed(this.collective.exchange(input));
  }

  /** Checks the store after a freeze, before data that the sockets still hold are used. */
  private async counting<T>(operation: () => Promise<T>): Promise<T> {
    const { first, end } = this.leaves;
    this.microBatch.add((this.mesh.options.now() - this.restedAt) / Math.max(1, end - first));
    await this.checkFreeze?.();
    const result = await operation();
    await this.checkFreeze?.();
    this.restedAt = this.mesh.options.now();
    if (this.abandoned) throw this.abandoned;
    return result;
  }

  private async timed<T>(operation: Promise<T>): Promise<T> {
    const startedAt = this.mesh.options.now();
    const result = await operation;
    this.waitMs += this.mesh.options.now() - startedAt;
    return result;
  }

  close(): void {
    this.onClose();
    this.mesh.close();
  }
}
