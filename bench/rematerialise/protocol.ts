import type { Rematerialise } from "../../core/runs/model-definition";
import type { BenchModule } from "../train/modules";

export interface Setup {
  readonly model: Extract<BenchModule, { readonly type: "transformer" }>;
  readonly rows: number;
  readonly rematerialise: Rematerialise;
  readonly steps: number;
}

/** Memory in bytes. Peaks are resident memory above the baseline. */
export interface Measured {
  /** Resident memory before the first step. */
  readonly baseline: number;
  /** Peak of the first step, which records the graph. */
  readonly firstPeak: number;
  /** Peak of the other steps. */
  readonly peak: number;
  /** Processor time of each step's gradients, without the first. */
  readonly cpuMs: readonly number[];
  /** SHA-256 of the weights after the last step. */
  readonly sha256: string;
}
