import * as z from "zod";
import { runLimitsSchema } from "../core/runs/job";
import type { Shape } from "../core/shapes";

const teamShare = z.object({
  /** The share from which the team draws, if it is not its own. */
  share: z.string().optional(),
  /** Within one share, the waiting job with the highest priority starts first. */
  priority: z.int().min(0).max(9_999).optional(),
  /** Limits of runs whose job has none. */
  limits: runLimitsSchema.optional(),
});

/** A team's jobs in a queue's fair-share policy, and limits of its runs, if the configuration has more than its weight. */
export interface TeamShare extends Shape<typeof teamShare> {}

/** By the team's name. A team that is not listed has its own share, with priority 0. */
export type TeamShares = Readonly<Record<string, TeamShare>>;

const schema = z.record(z.string(), teamShare);

/** Parses the environment variable of functions: the inverse of `JSON.stringify(shares)`. */
export function readTeamShares(text: string): TeamShares {
  return schema.parse(JSON.parse(text));
}

/**
 * Returns a share's identifier in AWS Batch, which accepts only letters and digits. Names of teams have no capital
 * letters, so a capital letter replaces the hyphen, and identifiers are unique.
 */
export function shareIdentifierOf(team: string): string {
  return team.replaceAll("-", "X");
}

/**
 * Returns the SubmitJob parameters for a queue with a fair-share policy; such a queue refuses a job without a share.
 */
export function schedulingOf(team: string, shares: TeamShares) {
  const { share = team, priority = 0 } = shares[team] ?? {};
  return { shareIdentifier: shareIdentifierOf(share), schedulingPriorityOverride: priority };
}

/** Converts a weight (larger: more) to Batch's weight factor (smaller: more), from 0.0001 to 999.9999. */
export function weightFactorOf(weight: number): number {
  return Math.min(999.9999, Math.max(0.0001, Math.round(1e4 / weight) / 1e4));
}
