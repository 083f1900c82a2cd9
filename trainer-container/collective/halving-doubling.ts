import type { HalvingPlans } from "../../core/training/reduction/halving";
import type { ReductionPlan } from "../../core/training/reduction/plan";
import type { GenerationLostError } from "../gang/gang";
import type { AllReduceInput, AllReduceResult } from "./all-reduce";
import { type FrameHeader, frameTypes } from "./frame";
import { HalvingPart, partSlots } from "./halving-part";
import type { Mesh, Operation } from "./mesh";
import type { Staging } from "./staging";

const nothing = Buffer.alloc(0);
/**
 * Of such lengths a vector whose ranks are no power of two is summed as two halves, one by each of the two plans: twice the messages, but
 * fewer bytes one after another, for who is a guest in one half is a host in the other. Longer ones gain nothing: docs/scale.md.
 */
const twoParts = { from: 16 * 1024, to: 4 * 1024 * 1024 };

/**
 * All-reduce in 2·log2 P message latencies instead of two, with log2 P peers instead of W − 1, where P is the largest power of two up to W. The
 * stages are those of `HalvingPart`; docs/algorithms.md counts steps and bytes.
 */
export class HalvingDoubling implements Operation {
  /** OR of what has been heard. */
  signals: number;
  failure: GenerationLostError | undefined;
  number = 0;
  private readonly parts: readonly HalvingPart[];
  private issued = false;
  private busyMs = 0;
  private settle: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(
    readonly mesh: Mesh,
    readonly plan: ReductionPlan,
    { first, last }: HalvingPlans,
    readonly input: AllReduceInput,
    readonly chunkElements: number,
    readonly staging: Staging,
  ) {
    this.signals = input.signals;
    const { length } = input.out;
    const whole = first === last || length < twoParts.from || length > twoParts.to;
    const middle = whole ? length : length >> 1;
    this.parts = [new HalvingPart(this, first, { start: 0, end: middle }, 0)];
    if (middle < length) this.parts = [...this.parts, new HalvingPart(this, last, { start: middle, end: length }, 1)];
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
    operation.number = mesh.begin(operation);
    // After `begin`: what is reserved for a generation that has ended would be given back by nobody.
    for (const part of operation.parts) part.reserve();
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
    return this.partOf(rank, header).place(rank, header);
  }

  complete(rank: number, header: FrameHeader): void {
    if (header.type === frameTypes.begin) {
      this.requireSame(rank, "elements", header.offset, this.input.out.length);
      this.requireSame(rank, "finished steps", header.finishedSteps, this.input.finishedSteps);
      this.signals |= header.signals;
    }
    this.partOf(rank, header).complete(rank, header);
  }

  owes(rank: number): boolean {
    return this.parts.some((part) => part.owes(rank));
  }

  flushed(): void {
    if (this.issued && this.mesh.pendingWrites === 0) this.settle?.resolve();
  }

  fail(error: GenerationLostError): void {
    this.failure = error;
    for (const part of this.parts) part.wakeUp();
    this.settle?.reject(error);
  }

  /** Runs additions, and counts their time. */
  timed(work: () => void): void {
    const start = this.mesh.options.now();
    work();
    this.busyMs += this.mesh.options.now() - start;
  }

  private async go(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.go()));
    this.issued = true;
    this.flushed();
  }

  private partOf(rank: number, { slot }: FrameHeader): HalvingPart {
    const part = this.parts[Math.floor(slot / partSlots)];
    if (!part) throw new Error(`rank ${rank} sent slot ${slot}, which is of no part of this vector`);
    return part;
  }

  private requireSame(rank: number, what: string, theirs: number, ours: number): void {
    if (theirs !== ours) throw new Error(`rank ${rank} has ${theirs} ${what}, but this rank ${ours}`);
  }
}
