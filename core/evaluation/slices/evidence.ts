import type { Category } from "../../datasets/profile";

/** One slice's part in a gate: its metric, or the rate that decides. */
export interface SliceRow {
  readonly value: Category | null;
  readonly rows: number;
  readonly estimate: number;
  /** Simultaneous over all slices; absent where there is no bootstrap of the metric. */
  readonly lower: number;
  readonly upper: number;
}

/** What a gate on slices rests on: docs/gates.md, "Slices". */
export interface SliceEvidence {
  readonly column: string;
  /** The class whose rates were compared, of `demographic-parity` and `equalized-odds`. */
  readonly positive?: Category;
  /** The rate that decides, of the same. */
  readonly rate?: "selection" | "true-positive" | "false-positive";
  /** The worst slice's metric, or the largest difference; with its interval. */
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
  /** 0.95, of all slices (or pairs of them) together. */
  readonly confidence: number;
  readonly resamples: number;
  readonly seed: number;
  /** Rows of all slices that were judged. */
  readonly rows: number;
  readonly minimumRows: number;
  /** Worst first; of a difference its two slices first. */
  readonly slices: readonly SliceRow[];
  /** How many were judged: `slices` may hold fewer. */
  readonly judged: number;
  /** How many were left out for having fewer rows than `minimumRows`, or none that the rate counts. */
  readonly leftOut: number;
}
