import type { Batch } from "../engine/engine";
import type { LeafRange } from "../gang/gang";

/** Where the loop gets its batches. */
export interface Feed {
  /**
   * One microshard of a step. Its arrays are valid until the next call.
   * @param leaves all that this rank computes of the step: with them a feed knows what will be asked for next.
   */
  microshard(step: number, index: number, leaves: LeafRange): Batch | Promise<Batch>;
  /** The sums of a step are on their way: there is time to gather the microshards of this, the next one. Does not wait. */
  ahead?(step: number, leaves: LeafRange): void;
  close(): Promise<void>;
}

/** The validation split, in blocks of one size but for the last. */
export interface ValidationBlocks {
  readonly count: number;
  /** Valid until the next call. */
  block(index: number): Batch | Promise<Batch>;
}
