import type { ApprovalsWithdrawn } from "./model";

const withdrawnBecause: Readonly<Record<ApprovalsWithdrawn["after"], string>> = {
  "rolled-back": "the version was rolled back",
  "canary-ended": "the canary was ended",
  "evaluated-again": "the gates evaluated the version again",
};

/** Describes whose approvals no longer count, and why: a sentence without its full stop. */
export function withdrawal({ after, of = [], revision, by, reason }: ApprovalsWithdrawn): string {
  const whose = of.length === 0 ? "earlier approvals" : `approval${of.length > 1 ? "s" : ""} of ${of.join(", ")}`;
  const why = `${withdrawnBecause[after]} (revision ${revision}, by ${by})`;
  return `${whose} withdrawn: ${why}${reason === undefined ? "" : `: ${reason}`}`;
}
