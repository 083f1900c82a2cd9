import type { ModelSnapshot } from "../../../../core/registry/registry";
import { emptyState, type Operation, type OperationKind, type ReferenceState, step } from "./reference";

const actionOf: Readonly<Record<OperationKind, string>> = {
  register: "registered",
  pass: "gated",
  fail: "gated",
  approve: "approved",
  reject: "rejected",
  promote: "promoted",
  "roll-back": "rolled-back",
};

export interface Replay {
  /** The state at each revision, from 0. */
  readonly states: readonly ReferenceState[];
  /** The revision that an operation made, by its id. */
  readonly revisions: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
}

/** Does again, upon the reference, what history says was done, and says where they differ. */
export function replay(
  { model, versions, history }: ModelSnapshot,
  operations: ReadonlyMap<string, Operation>,
): Replay {
  const states: ReferenceState[] = [emptyState];
  const revisions = new Map<string, number>();
  const violations: string[] = [];
  for (const [at, entry] of history.entries()) {
    const told = `entry ${entry.revision} (${entry.action} ${entry.version}, ${entry.reason})`;
    const operation = operations.get(entry.reason ?? "");
    if (entry.revision !== at + 1) violations.push(`${told} stands in place ${at + 1}: history has a gap or a double`);
    if (operation === undefined) {
      violations.push(`${told} is of no operation`);
      return { states, revisions, violations };
    }
    if (revisions.has(operation.id)) violations.push(`${told}: done twice, at ${revisions.get(operation.id)} too`);
    revisions.set(operation.id, entry.revision);
    if (entry.by !== operation.by || Number.isNaN(Date.parse(entry.at)) || entry.action !== actionOf[operation.kind])
      violations.push(`${told} by ${entry.by} at ${entry.at} is not what ${operation.by} asked: ${operation.kind}`);
    const before = states.at(-1)!;
    const outcome = step(before, operation);
    if (outcome.kind !== "changed" || outcome.version !== entry.version) {
      violations.push(`${told} cannot follow upon ${JSON.stringify(before)}: ${JSON.stringify(outcome)}`);
      return { states, revisions, violations };
    }
    if (before.production !== undefined && outcome.state.production === undefined) violations.push(`${told} left none`);
    states.push(outcome.state);
  }
  const seen = {
    production: model.production,
    former: model.formerProduction,
    versions: [...versions]
      .sort((a, b) => a.version - b.version)
      .map(({ stage, gate, approval }) => ({ stage, passed: gate?.passed, decision: approval?.decision })),
  };
  const [found, expected] = [seen, states.at(-1)!].map((state) => JSON.stringify(ordered(state)));
  if (model.revision !== history.length) violations.push(`revision ${model.revision} of ${history.length} entries`);
  if (found !== expected) violations.push(`the rows say ${found}, history makes ${expected}`);
  return { states, revisions, violations };
}

function ordered({
  production,
  former,
  versions,
}: Pick<ReferenceState, "production" | "former"> & { readonly versions: readonly object[] }) {
  const plain = versions.map((version) => {
    const { stage, passed, decision } = version as ReferenceState["versions"][number];
    return { stage, passed, decision };
  });
  return { production, former, versions: plain };
}

/** What holds at every instant, also in the middle of whatever others do. */
export function instantViolations({ model, versions, history }: ModelSnapshot): readonly string[] {
  const champions = versions.filter(({ stage }) => stage === "production").map(({ version }) => version);
  const found: string[] = [];
  if (champions.join() !== String(model.production ?? ""))
    found.push(`production are versions [${champions}], the head says ${model.production}`);
  const champion = versions.find(({ version }) => version === model.production);
  if (champion && (!champion.served?.gate.passed || champion.approval?.decision !== "approved"))
    found.push(`version ${champion.version} is in production without a passed gate and an approval`);
  if (model.production === undefined && history.some(({ action }) => action === "promoted"))
    found.push("none is in production after the first promotion");
  if (history.some(({ revision }, at) => revision !== at + 1) || history.length !== model.revision)
    found.push(`revision ${model.revision} has ${history.length} entries of history`);
  return found;
}
