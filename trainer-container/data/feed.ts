import type { Batch } from "../engine/engine";
import type { LeafRange } from "../gang/gang";

export interface Feed {
  /** Valid until the next call. @param leaves this rank's, from which a feed derives the next requests */
  microBatch(step: number, index: number, leaves: LeafRange): Batch | Promise<Batch>;
  /** Gathers the micro-batches of the next step while the sums of a step are being sent. Does not wait. */
  ahead?(step: number, leaves: LeafRange): void;
  close(): Promise<void>;
}

/** A split in blocks of one size, except the last. */
export interface SplitBlocks {
  readonly count: number;
  /** Valid until the next call. */
  block(index: number): Batch | Promise<Batch>;
}
