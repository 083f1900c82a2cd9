import { digestOf } from "../../digest";
import type { Model } from "../model";
import type { GateCheck, GateVerdict } from "./verdict";

/** Describes how evidence differs, if it does. Approvals stay valid while it is the same and the verdict passes. */
export function evidenceChange(before: GateVerdict | undefined, after: GateVerdict): string | undefined {
  if (!after.passed) return `it did not pass the gates (${unpassed(after)})`;
  if (!before?.passed) return "it had not passed the gates";
  if (before.champion !== after.champion) {
    return `compared with ${championOf(after)}; at the approval with ${championOf(before)}`;
  }
  if (before.rulesRevision !== after.rulesRevision) {
    return `evaluated by the policy's gates of revision ${after.rulesRevision}; at the approval by ${before.rulesRevision === undefined ? "none" : `those of revision ${before.rulesRevision}`}`;
  }
  const changed = changedGates(before.checks, after.checks);
  return changed.length === 0 ? undefined : `the results of ${changed.join(", ")} changed`;
}

/** Returns what a verdict no longer matches: the champion in production, or the policy's rules. */
export function outdatedBy(
  { production, policy }: Pick<Model, "production" | "policy">,
  verdict: GateVerdict,
): "champion" | "policy" | undefined {
  if (verdict.champion !== production) return "champion";
  return verdict.rulesRevision === policy?.rulesRevision ? undefined : "policy";
}

export function championOf({ champion }: Pick<GateVerdict, "champion">): string {
  return champion === undefined ? "no champion" : `version ${champion}`;
}

function unpassed({ checks }: GateVerdict): string {
  return checks
    .filter(({ passed }) => !passed)
    .map(({ evidence }) => evidence)
    .join("; ");
}

function changedGates(before: readonly GateCheck[], after: readonly GateCheck[]): readonly string[] {
  const digests = new Set(before.map(resultDigest));
  const now = new Set(after.map(resultDigest));
  const changed = [
    ...after.filter((check) => !digests.has(resultDigest(check))),
    ...before.filter((check) => !now.has(resultDigest(check))),
  ];
  return [...new Set(changed.map(({ gate, metric }) => `${gate} ${metric}`))];
}

/** Compares values only, because the wording of a gate may change with a release. */
function resultDigest({ evidence: _, external, ...result }: GateCheck): string {
  const { answer } = external ?? {};
  return digestOf({ ...result, check: external?.digest, answer: answer && [answer.passed, answer.evidence] });
}
