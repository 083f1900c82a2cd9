import { Staging } from "../kernels/sum-memory";
import { chooseAlgorithm, type HalvingPlans, planHalving } from "../reduction/halving";
import { type LeafRange, planReduction, type ReductionPlan } from "../reduction/plan";
import { AllReduce, type AllReduceInput, type AllReduceResult } from "./all-reduce";
import { HalvingDoubling } from "./halving-doubling";
import type { Mesh } from "./mesh";
import { MessageExchange, type MessagesInput, StateTransfer, type StateTransferInput } from "./messages";
import { ReduceScatter, type ReduceScatterInput } from "./reduce-scatter";
import { directChunkElements } from "./segments";

/** 512 KiB per frame: the calls and wake-ups of a frame cost little compared with its copy, and large segments are still pipelined. */
const defaultChunkElements = 128 * 1024;

interface BegunAllReduce {
  /** Reports that elements [start, end) of all local leaves are final. `finish` reports failures. */
  ready(start: number, end: number): void;
  /** Reports that all elements are final. @throws GenerationLostError */
  finish(): Promise<AllReduceResult>;
}

/** The collective operations over one generation's mesh. They run one at a time, in the same order on all ranks. */
export class Collective {
  readonly plan: ReductionPlan;
  /** `undefined` if halving would not give the canonical order. */
  private readonly halving: HalvingPlans | undefined;
  private readonly staging = new Staging();
  private readonly chunkElements: number;

  constructor(
    readonly mesh: Mesh,
    private readonly givenChunkElements?: number,
    private readonly choose: typeof chooseAlgorithm = chooseAlgorithm,
  ) {
    this.plan = planReduction(mesh.options.microBatches, mesh.worldSize);
    this.halving = planHalving(this.plan);
    this.chunkElements = givenChunkElements ?? defaultChunkElements;
    mesh.onShut = () => this.staging.release();
  }

  /**
   * Sums V leaves in the canonical order into `out` on every rank, fastest in memory of `allocateSum`. `local` may be
   * the sums of `subtrees`.
   * @throws GenerationLostError
   */
  allReduce(input: AllReduceInput): Promise<AllReduceResult> {
    this.requireLeaves(input);
    return Promise.resolve().then(() => this.beginAllReduce(input).finish());
  }

  /**
   * The same sum, begun during the last leaf. It owns the leaves' memory that `ready` has reported as final.
   * @throws GenerationLostError
   */
  beginAllReduce(input: AllReduceInput): BegunAllReduce {
    this.requireLeaves(input);
    const { mesh, plan, halving, chunkElements, staging } = this;
    const shape = { worldSize: plan.worldSize, microBatches: plan.leafCount, elements: input.out.length };
    if (!halving || this.choose(shape) !== "halving-doubling") {
      const chunk = this.givenChunkElements ?? directChunkElements(shape.elements, plan.worldSize);
      return AllReduce.begin(mesh, plan, input, chunk, staging);
    }
    // The first messages contain halves of the whole vector, so an early start gains little.
    return { ready: () => {}, finish: () => HalvingDoubling.run(mesh, plan, halving, input, chunkElements, staging) };
  }

  /**
   * Leaves each segment's sum on its owner and on the next rank.
   * @returns the signals that each rank raised
   * @throws GenerationLostError
   */
  reduceScatter(input: ReduceScatterInput): Promise<readonly number[]> {
    return ReduceScatter.run(this.mesh, this.plan, input, this.chunkElements, this.staging);
  }

  /** Exchanges messages that all ranks planned alike; completes after all have begun. @throws GenerationLostError */
  exchange(input: MessagesInput): Promise<void> {
    return MessageExchange.run(this.mesh, input, this.chunkElements);
  }

  /** @throws GenerationLostError; this rank's state is then unchanged */
  transferState(input: StateTransferInput): Promise<void> {
    return StateTransfer.run(this.mesh, input, this.chunkElements);
  }

  /** The ranges of leaves whose sums this rank may pass to `allReduce` instead of the leaves. */
  get subtrees(): readonly LeafRange[] | undefined {
    const { plan, halving, mesh } = this;
    const smallest = { worldSize: plan.worldSize, microBatches: plan.leafCount, elements: 0 };
    if (halving && this.choose(smallest) === "halving-doubling") return undefined; // needs the leaves
    const { partials, leaves } = plan.ranks[mesh.options.rank]!;
    return partials.map((first, index) => ({ first, end: partials[index + 1] ?? leaves.end }));
  }

  private requireLeaves(input: AllReduceInput): void {
    const { leaves, partials } = this.plan.ranks[this.mesh.options.rank]!;
    const expected = leaves.end - leaves.first;
    const count = input.local.length;
    if (count !== expected && !(this.subtrees && count === partials.length)) {
      throw new RangeError(`got ${count} local leaves, but this rank computes ${expected}`);
    }
    for (const leaf of input.local) {
      if (leaf.length !== input.out.length) {
        throw new RangeError(`a leaf has ${leaf.length} elements, but out has ${input.out.length}`);
      }
    }
  }
}
