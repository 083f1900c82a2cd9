import * as z from "zod";
import { sha256 } from "../digest";
import { decisionOn } from "./approvals";
import { isVisible } from "./change";
import { isPending } from "./gates/external-check";
import type { HistoryEntry, Model, ModelVersion } from "./model";
import { approvalRulesOf } from "./policy";

/** The event that a version needs an approval. Repetitions have the same id. */
export const approvalNeededSchema = z.object({
  id: z.string(),
  type: z.literal("approval.needed"),
  /** Time of the request. ISO 8601. */
  at: z.string(),
  team: z.string(),
  model: z.string(),
  version: z.int(),
  /** The run that trained it. */
  runId: z.string().optional(),
  approvals: z.object({ required: z.int(), given: z.int() }),
  /** The people who may approve; empty: everybody in the team. */
  approvers: z.array(z.string()),
  /** Checks of the policy without an answer. */
  checks: z.array(z.string()),
  submittedBy: z.string(),
  metrics: z.record(z.string(), z.number()),
  /** Commands of the command line. */
  commands: z.object({ approve: z.string(), reject: z.string() }),
});
export type ApprovalNeeded = z.infer<typeof approvalNeededSchema>;

const maxMetrics = 50;

/**
 * Returns the event for a change; `undefined` if the change requests no approval, or the version no longer waits.
 *
 * A verdict of the version's own run requests nothing, because the run requests the approval in its next step. A
 * verdict that a person requested does.
 */
export function approvalNeeded(
  team: string,
  entry: HistoryEntry,
  model: Model,
  version: ModelVersion,
): ApprovalNeeded | undefined {
  const requested = entry.action === "approval-requested" || (entry.action === "gated" && !entry.by.startsWith("run "));
  const { gate } = version;
  if (!requested || !gate || !(gate.passed || isPending(gate))) return undefined;
  if (model.production === version.version || !isVisible(model, version)) return undefined;
  const decision = decisionOn(model, version);
  if (decision.state !== "waiting") return undefined;
  const target = `${shellWord(model.name)} ${version.version}`;
  return {
    id: `approval-needed-${sha256(JSON.stringify([team, model.name, entry.revision])).slice(0, 32)}`,
    type: "approval.needed",
    at: entry.at,
    team,
    model: model.name,
    version: version.version,
    runId: version.awaitedBy,
    approvals: { required: decision.required, given: decision.given },
    approvers: [...approvalRulesOf(model).approvers],
    checks: gate.checks.filter(({ pending }) => pending).map(({ metric }) => metric),
    submittedBy: version.submittedBy,
    metrics: Object.fromEntries(
      Object.entries(version.metrics)
        .filter(([, value]) => Number.isFinite(value)) // JSON has no others
        .slice(0, maxMetrics),
    ),
    commands: { approve: `ringmaster models approve ${target}`, reject: `ringmaster models reject ${target}` },
  };
}

function shellWord(text: string): string {
  return /^[\w.@%+=:,/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
