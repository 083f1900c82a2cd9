import { z } from "zod";

/** How a team's jobs stand in a queue's fair-share policy where the configuration says more than its weight. */
export interface TeamShare {
  /** Whose part of the queue they draw from, where it is not the team's own. */
  readonly share?: string;
  /** Within one share the waiting job of the highest priority goes first. */
  readonly priority?: number;
}

/** By the team's name; who is not listed draws from a share of its own, at priority 0. */
export type TeamShares = Readonly<Record<string, TeamShare>>;

const schema = z.record(
  z.string(),
  z.object({ share: z.string().optional(), priority: z.int().min(0).max(9_999).optional() }),
);

/** The inverse of `JSON.stringify(shares)`, which is how functions get them in their environment. */
export function readTeamShares(text: string): TeamShares {
  return schema.parse(JSON.parse(text));
}

/**
 * A share's identifier in AWS Batch, which takes letters and digits only: names of teams have no capital letters, so one stands for the hyphen, and no two
 * names become one.
 */
export function shareIdentifierOf(team: string): string {
  return team.replaceAll("-", "X");
}

/** What SubmitJob needs to know for a queue with a fair-share policy; such a queue refuses a job without a share. */
export function schedulingOf(team: string, shares: TeamShares) {
  const { share = team, priority = 0 } = shares[team] ?? {};
  return { shareIdentifier: shareIdentifierOf(share), schedulingPriorityOverride: priority };
}

/** The weight factor of Batch, which is the smaller the more a share gets, of a weight that is the larger the more: from 0.0001 to 999.9999. */
export function weightFactorOf(weight: number): number {
  return Math.min(999.9999, Math.max(0.0001, Math.round(1e4 / weight) / 1e4));
}
