import { allocateSum, releaseSum } from "./sum-memory";

/** Other ranks' partial sums of the own segment, by slot; kept from step to step, for as long as the mesh stands. */
export class Staging {
  private readonly slots = new Map<number, Float32Array>();

  /** At least so much. A training alternates between gradients and a few metrics: the larger buffer stays. */
  reserve(slot: number, length: number): void {
    const present = this.slots.get(slot);
    if (present && present.length >= length) return;
    if (present) releaseSum(present);
    this.slots.set(slot, allocateSum(length));
  }

  get(slot: number): Float32Array {
    return this.slots.get(slot)!;
  }

  /** Only where no socket reads into it any more. */
  release(): void {
    for (const values of this.slots.values()) releaseSum(values);
    this.slots.clear();
  }
}
