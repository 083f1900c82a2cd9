import { chooseAlgorithm } from "../reduction/choose";
import { type HalvingPlans, planHalving } from "../reduction/halving";
import { planReduction, type ReductionPlan } from "../reduction/plan";
import { AllReduce, type AllReduceInput, type AllReduceResult } from "./all-reduce";
import { HalvingDoubling } from "./halving-doubling";
import type { Mesh } from "./mesh";
import { ParcelExchange, type ParcelsInput } from "./messages";
import { ReduceScatter, type ReduceScatterInput } from "./reduce-scatter";
import { directChunkElements } from "./segments";
import { Staging } from "./staging";
import { StateTransfer, type StateTransferInput } from "./state-transfer";

/** 512 KiB a frame: what a frame costs in calls and wake-ups is little beside its copying, and a large segment is still pipelined. */
const defaultChunkElements = 128 * 1024;

export interface BegunAllReduce {
  /** Elements [start, end) of all local leaves are final. Never fails: `finish` does. */
  ready(start: number, end: number): void;
  /** All elements are final. @throws GenerationLostError */
  finish(): Promise<AllReduceResult>;
}

/** The collective operations over one generation's mesh. One at a time, the same on all ranks. */
export class Collective {
  readonly plan: ReductionPlan;
  /** `undefined` where halving would not give the canonical order. */
  private readonly halving: HalvingPlans | undefined;
  private readonly staging = new Staging();
  private readonly chunkElements: number;

  constructor(
    readonly mesh: Mesh,
    private readonly givenChunkElements?: number,
    private readonly choose: typeof chooseAlgorithm = chooseAlgorithm,
  ) {
    this.plan = planReduction(mesh.options.microshards, mesh.worldSize);
    this.halving = planHalving(this.plan);
    this.chunkElements = givenChunkElements ?? defaultChunkElements;
    mesh.onShut = () => this.staging.release();
  }

  /**
   * Sums V leaves of `out.length` elements in the canonical order into `out` on every rank. Fastest where the
   * leaves and `out` come from `allocateSum`.
   *
   * @throws GenerationLostError
   */
  allReduce(input: AllReduceInput): Promise<AllReduceResult> {
    this.requireLeaves(input);
    return Promise.resolve().then(() => this.beginAllReduce(input).finish());
  }

  /**
   * The same sum, begun while the caller still computes the last leaf. The leaves' memory belongs to the sum wherever `ready` has said that
   * it is final.
   *
   * @throws GenerationLostError
   */
  beginAllReduce(input: AllReduceInput): BegunAllReduce {
    this.requireLeaves(input);
    const { mesh, plan, halving, chunkElements, staging } = this;
    const shape = { worldSize: plan.worldSize, microshards: plan.leafCount, elements: input.out.length };
    if (!halving || this.choose(shape) !== "halving-doubling") {
      const chunk = this.givenChunkElements ?? directChunkElements(shape.elements, plan.worldSize);
      return AllReduce.begin(mesh, plan, input, chunk, staging);
    }
    // Its first messages take whole vectors' halves: there is little that could go ahead.
    return { ready: () => {}, finish: () => HalvingDoubling.run(mesh, plan, halving, input, chunkElements, staging) };
  }

  /**
   * Sums V leaves as `allReduce` does, but leaves each segment's sum on its owner and on the rank after it.
   *
   * @returns the signals that each rank raised.
   * @throws GenerationLostError
   */
  reduceScatter(input: ReduceScatterInput): Promise<readonly number[]> {
    return ReduceScatter.run(this.mesh, this.plan, input, this.chunkElements, this.staging);
  }

  /**
   * Any exchange that all ranks have planned alike; complete only after all have begun it.
   *
   * @throws GenerationLostError
   */
  exchange(input: ParcelsInput): Promise<void> {
    return ParcelExchange.run(this.mesh, input, this.chunkElements);
  }

  /** @throws GenerationLostError, with this rank's state as it was. */
  transferState(input: StateTransferInput): Promise<void> {
    return StateTransfer.run(this.mesh, input, this.chunkElements);
  }

  private requireLeaves(input: AllReduceInput): void {
    const { leaves } = this.plan.ranks[this.mesh.options.rank]!;
    const expected = leaves.end - leaves.first;
    if (input.local.length !== expected) {
      throw new RangeError(`got ${input.local.length} local leaves, but this rank computes ${expected}`);
    }
    for (const leaf of input.local) {
      if (leaf.length !== input.out.length) {
        throw new RangeError(`a leaf has ${leaf.length} elements, but out has ${input.out.length}`);
      }
    }
  }
}
