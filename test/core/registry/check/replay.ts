import type { ModelSnapshot } from "../../../../core/registry/registry";
import { type Operation, type OperationKind, policies, readReason } from "./operation";
import { emptyState, type ReferenceState, step } from "./reference";

const actionOf: Readonly<Record<OperationKind, string>> = {
  register: "registered",
  pass: "gated",
  fail: "gated",
  approve: "approved",
  reject: "rejected",
  promote: "promoted",
  "roll-back": "rolled-back",
  stage: "staged",
  alias: "alias-set",
  unalias: "alias-deleted",
  tag: "tagged",
  untag: "untagged",
  semver: "semver-set",
  delete: "deleted",
  restore: "restored",
  "delete-model": "deleted",
  "restore-model": "restored",
  create: "created",
  policy: "policy-set",
  traffic: "traffic-set",
  "no-traffic": "traffic-set",
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
    const entryText = `entry ${entry.revision} (${entry.action} ${entry.version}, ${entry.reason})`;
    const { id, about } = readReason(entry.reason ?? "");
    const operation = operations.get(id);
    if (entry.revision !== at + 1)
      violations.push(`${entryText} stands in place ${at + 1}: history has a gap or a double`);
    if (operation === undefined) {
      violations.push(`${entryText} is of no operation`);
      return { states, revisions, violations };
    }
    if (revisions.has(operation.id)) violations.push(`${entryText}: done twice, at ${revisions.get(operation.id)} too`);
    revisions.set(operation.id, entry.revision);
    if (entry.by !== operation.by || Number.isNaN(Date.parse(entry.at)) || !isActionOf(operation.kind, entry.action))
      violations.push(
        `${entryText} by ${entry.by} at ${entry.at} is not what ${operation.by} requested: ${operation.kind}`,
      );
    const before = states.at(-1)!;
    const outcome = step(before, operation, about);
    if (outcome.kind !== "changed" || outcome.version !== entry.version) {
      violations.push(`${entryText} cannot follow upon ${JSON.stringify(before)}: ${JSON.stringify(outcome)}`);
      return { states, revisions, violations };
    }
    if (before.production !== undefined && outcome.state.production === undefined)
      violations.push(`${entryText} left none`);
    const [from, to] = [before, outcome.state].map((state) => state.versions[(entry.version ?? 0) - 1]?.stage);
    const moved = from === to ? "" : `${from ?? ""} to ${to}`;
    const said = entry.to === undefined ? "" : `${entry.from ?? ""} to ${entry.to}`;
    if (moved !== said) violations.push(`${entryText} says that it moved ${said}, and it moved ${moved}`);
    states.push(outcome.state);
  }
  const rows = rowsOf({ model, versions, history });
  const [found, expected] = [rows, plain(states.at(-1)!)].map((state) => JSON.stringify(state));
  if (model.revision !== history.length) violations.push(`revision ${model.revision} of ${history.length} entries`);
  if (found !== expected) violations.push(`the rows say ${found}, history makes ${expected}`);
  return { states, revisions, violations };
}

/** Whether an operation makes such an entry: a looser policy may be a request alone. */
function isActionOf(kind: Operation["kind"], action: string): boolean {
  return action === actionOf[kind] || (kind === "policy" && action === "policy-proposed");
}

const sorted = (names: Readonly<Record<string, number>>) => Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1));

/** The rows in the reference's words. */
function rowsOf({ model, versions }: ModelSnapshot) {
  return {
    revision: model.revision,
    deleted: model.lifecycle === "deleted",
    first: model.firstVersion,
    production: model.production,
    former: model.formerProduction,
    aliases: sorted(model.aliases),
    rules: model.policy?.rulesRevision,
    required: model.policy?.approvals.required,
    proposed: model.policyProposal?.requests.map(({ by }) => by),
    arms: model.traffic?.canaries.map(({ version }) => version) ?? [],
    tested: model.traffic?.test !== undefined,
    versions: [...versions]
      .sort((a, b) => a.version - b.version)
      .map((row) => ({
        stage: row.stage,
        deleted: row.lifecycle === "deleted",
        passed: row.gate?.passed,
        champion: row.gate && (row.gate.champion ?? 0),
        words: row.approvals.map(({ by, decision }) => `${by} ${decision}`),
        semver: row.semver,
        tag: row.tags["tag"] as string | undefined,
      })),
  };
}

function plain({ policy, proposal, versions, arm, ...state }: ReferenceState): ReturnType<typeof rowsOf> {
  return {
    revision: state.revision,
    deleted: state.deleted,
    first: state.first,
    production: state.production,
    former: state.former,
    aliases: sorted(state.aliases),
    rules: policy?.rules,
    required: policy && policies[policy.name]!.required,
    proposed: proposal && [...proposal.people],
    arms: arm ? [arm.version] : [],
    tested: arm?.tested ?? false,
    versions: versions.map(({ stage, deleted, verdict, words, semver, tag }) => ({
      stage: stage as ReturnType<typeof rowsOf>["versions"][number]["stage"],
      deleted,
      passed: verdict?.passed,
      champion: verdict?.champion,
      words: words.map(({ by, decision }) => `${by} ${decision}`),
      semver,
      tag,
    })),
  };
}

/** Returns violations of what must hold at every instant, also during other changes. */
export function instantViolations({ model, versions, history }: ModelSnapshot): readonly string[] {
  const champions = versions.filter(({ stage }) => stage === "production").map(({ version }) => version);
  const found: string[] = [];
  if (champions.join() !== String(model.production ?? ""))
    found.push(`production are versions [${champions}], the head says ${model.production}`);
  const champion = versions.find(({ version }) => version === model.production);
  if (champion && (!champion.served?.gate.passed || champion.served.approval.decision !== "approved"))
    found.push(`version ${champion.version} is in production without a passed gate and an approval`);
  if (model.production !== undefined && model.aliases["champion"] !== model.production)
    found.push(`champion is ${model.aliases["champion"]}, and ${model.production} is in production`);
  if (model.production === undefined && history.some(({ action }) => action === "promoted"))
    found.push("none is in production after the first promotion");
  if (history.some(({ revision }, at) => revision !== at + 1) || history.length !== model.revision)
    found.push(`revision ${model.revision} has ${history.length} entries of history`);
  return found;
}
