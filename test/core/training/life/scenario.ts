import type { Run } from "../../../../core/runs/run";

/** What becomes of a job that nothing disturbs. */
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
  /** Of the first job, the second, …; those that are not named succeed. */
  readonly fates?: readonly Fate[];
  /** The n-th job, and those after it, are refused by Batch. */
  readonly refusedFrom?: number;
  /** Which of two things comes first where nothing is chosen: what a process does next or what the world does; the older call or the newer. */
  readonly first?: { readonly world?: boolean; readonly newest?: boolean };
  readonly choices: readonly number[];
}

export interface Outcome {
  readonly violations: readonly string[];
  readonly log: readonly string[];
  /** How many things could have happened at each point. */
  readonly widths: readonly number[];
  readonly run: Run;
}
