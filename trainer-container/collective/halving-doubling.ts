import type { Staging } from "../kernels/sum-memory";
import type { HalvingPlans } from "../reduction/halving";
import type { ReductionPlan } from "../reduction/plan";
import type { AllReduceInput, AllReduceResult } from "./all-reduce";
import type { GenerationLostError } from "./errors";
import { type FrameHeader, frameTypes } from "./frame";
import { type HalvingOperation, HalvingPart, partSlots } from "./halving-part";
import type { Mesh } from "./mesh";
import { MeshOperation } from "./mesh-operation";

const nothing = Buffer.alloc(0);
/**
 * Lengths summed as two halves if the ranks are no power of two: twice the messages, but fewer bytes in sequence,
 * because a guest in one half is a host in the other. Longer vectors gain nothing: docs/scale.md.
 */
const twoParts = { from: 16 * 1024, to: 4 * 1024 * 1024 };

/** All-reduce in 2·log2 P latencies with log2 P peers; P is the largest power of two up to W. Stages: `HalvingPart`. */
export class HalvingDoubling extends MeshOperation implements HalvingOperation {
  /** OR of the received signals. */
  signals: number;
  private readonly parts: readonly HalvingPart[];

  private constructor(
    mesh: Mesh,
    readonly plan: ReductionPlan,
    { first, last }: HalvingPlans,
    readonly input: AllReduceInput,
    readonly chunkElements: number,
    readonly staging: Staging,
  ) {
    super(mesh);
    this.signals = input.signals;
    const { length } = input.out;
    const hasTwoParts = first !== last && length >= twoParts.from && length <= twoParts.to;
    const middle = hasTwoParts ? length >> 1 : length;
    const parts = [new HalvingPart(this, first, { start: 0, end: middle }, 0)];
    if (hasTwoParts) parts.push(new HalvingPart(this, last, { start: middle, end: length }, 1));
    this.parts = parts;
  }

  /** @throws GenerationLostError */
  static async run(
    mesh: Mesh,
    plan: ReductionPlan,
    halving: HalvingPlans,
    input: AllReduceInput,
    chunkElements: number,
    staging: Staging,
  ): Promise<AllReduceResult> {
    const startedAt = mesh.options.now();
    const operation = new HalvingDoubling(mesh, plan, halving, input, chunkElements, staging);
    operation.enter();
    await operation.untilEnd();
    return { signals: operation.signals, waitMs: mesh.options.now() - startedAt - operation.busyMs };
  }

  place(rank: number, header: FrameHeader): Buffer {
    if (header.type === frameTypes.begin) return nothing;
    return this.partOf(rank, header).place(rank, header);
  }

  complete(rank: number, header: FrameHeader): void {
    if (header.type === frameTypes.begin) {
      const { out, finishedSteps } = this.input;
      this.requireAgreement(rank, header, { elements: out.length, finishedSteps });
      this.signals |= header.signals;
    }
    this.partOf(rank, header).complete(rank, header);
  }

  owes(rank: number): boolean {
    return this.parts.some((part) => part.owes(rank));
  }

  override fail(error: GenerationLostError): void {
    super.fail(error);
    for (const part of this.parts) part.wakeUp();
  }

  protected override reserve(): void {
    for (const part of this.parts) part.reserve();
  }

  /** `issue` ends only after each part has received its last stage, so nothing else is expected. */
  protected hasReceivedAll(): boolean {
    return true;
  }

  protected async issue(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.run()));
  }

  private partOf(rank: number, { slot }: FrameHeader): HalvingPart {
    const part = this.parts[Math.floor(slot / partSlots)];
    if (!part) throw new Error(`rank ${rank} sent slot ${slot}, which is of no part of this vector`);
    return part;
  }
}
