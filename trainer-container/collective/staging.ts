import { allocateSum, releaseSum } from "./sum-memory";

/** Other ranks' partial sums of the own segment, by slot; kept from step to step while the mesh exists. */
export class Staging {
  private readonly slots = new Map<number, Float32Array>();

  /** Reserves at least this length. A training alternates between gradients and a few metrics, so the larger buffer stays. */
  reserve(slot: number, length: number): void {
    const present = this.slots.get(slot);
    if (present && present.length >= length) return;
    if (present) releaseSum(present);
    this.slots.set(slot, allocateSum(length));
  }

  get(slot: number): Float32Array {
    return this.slots.get(slot)!;
  }

  /** Releases the memory. No socket may read into it any more. */
  release(): void {
    for (const values of this.slots.values()) releaseSum(values);
    this.slots.clear();
  }
}
