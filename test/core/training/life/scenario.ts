import type { Run } from "../../../../core/runs/shapes";

/** The end of a job that nothing disturbs. */
export type Fate =
  | "succeeds"
  | "lost"
  | "fails"
  | "fails-silently"
  | "fails-for-good"
  | "fails-with-result"
  | "unhurried"
  | "slow";

export interface Scenario {
  readonly retries: number;
  readonly market: "spot" | "on-demand";
  /** Fates of the first job, the second, …; further jobs succeed. */
  readonly fates?: readonly Fate[];
  /** The n-th job, and those after it, are refused by Batch. */
  readonly refusedFrom?: number;
  /** The default order of two events: a process's or the world's first; the older call or the newer first. */
  readonly first?: { readonly world?: boolean; readonly newest?: boolean };
  readonly choices: readonly number[];
}

export interface Outcome {
  readonly violations: readonly string[];
  readonly log: readonly string[];
  /** The number of possible events at each point. */
  readonly widths: readonly number[];
  readonly run: Run;
}
