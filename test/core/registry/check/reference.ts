import { type About, type Operation, type Policy, policies } from "./operation";

/**
 * A second, independent definition of the registry: one operation after another on a small state. It shares no code
 * with `core/registry`.
 */
export interface ReferenceVersion {
  readonly stage: string;
  readonly deleted: boolean;
  readonly submitter: string;
  readonly verdict?: About & { readonly passed: boolean };
  readonly words: readonly { readonly by: string; readonly decision: string }[];
  /** Verdict and words that it was promoted upon. */
  readonly served?: Pick<ReferenceVersion, "verdict" | "words">;
  /** A rollback or the end of its canary took its approvals: a policy that requires nobody does not approve it. */
  readonly withdrawn?: boolean;
  readonly semver?: string;
  readonly tag?: string;
}

export interface ReferenceState {
  readonly revision: number;
  readonly deleted: boolean;
  /** Versions below are of a model that was deleted. */
  readonly first: number;
  readonly production?: number;
  /** Former champions, the latest last. */
  readonly former: readonly number[];
  readonly aliases: Readonly<Record<string, number>>;
  readonly policy?: { readonly name: string; readonly rules: number };
  /** A looser policy, and who has requested it. */
  readonly proposal?: { readonly name: string; readonly people: readonly string[] };
  /** The canary that gets a part of the units, if one does. */
  readonly arm?: { readonly version: number; readonly tested: boolean };
  /** By number, from 1. */
  readonly versions: readonly ReferenceVersion[];
}

export type Outcome =
  | { readonly kind: "changed"; readonly state: ReferenceState; readonly version: number | undefined }
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly code: string };

export const emptyState: ReferenceState = {
  revision: 0,
  deleted: false,
  first: 1,
  former: [],
  aliases: {},
  versions: [],
};

const refused = (code: string): Outcome => ({ kind: "refused", code });
const nothing: Outcome = { kind: "nothing" };

/** Changes the model. */
function ofModel(state: ReferenceState, change: Partial<ReferenceState>, version?: number): Outcome {
  return { kind: "changed", state: { ...state, ...change, revision: state.revision + 1 }, version };
}

/** Changes a version, and the model with it. */
function ofVersion(
  state: ReferenceState,
  version: number,
  next: Partial<ReferenceVersion>,
  change: Partial<ReferenceState> = {},
): Outcome {
  const versions = [...(change.versions ?? state.versions)];
  versions[version - 1] = { ...versions[version - 1]!, ...next };
  return ofModel(state, { ...change, versions }, version);
}

export function step(state: ReferenceState, operation: Operation, about?: About): Outcome {
  const outcome = stepUnsettled(state, operation, about);
  if (outcome.kind !== "changed" || outcome.state.arm === undefined) return outcome;
  const { stage, deleted } = outcome.state.versions[outcome.state.arm.version - 1]!;
  return stage === "canary" && !deleted ? outcome : { ...outcome, state: { ...outcome.state, arm: undefined } };
}

function stepUnsettled(state: ReferenceState, operation: Operation, about: About = { champion: 0, rules: 0 }): Outcome {
  const { kind, by, value = "" } = operation;
  if (kind === "register") {
    const fresh = state.deleted ? emptied(state) : {};
    const made: ReferenceVersion = { stage: "none", deleted: false, submitter: by, words: [] };
    return ofModel(state, { ...fresh, versions: [...state.versions, made] }, state.versions.length + 1);
  }
  if (kind === "create") return state.deleted ? ofModel(state, emptied(state)) : refused("MODEL_EXISTS");
  if (kind === "restore-model") return state.deleted ? ofModel(state, { deleted: false }) : nothing;
  if (state.deleted) return refused("MODEL_NOT_FOUND");
  const { production, aliases } = state;
  switch (kind) {
    case "roll-back":
      return rolledBack(state);
    case "delete-model":
      return production === undefined ? ofModel(state, { deleted: true }) : refused("IN_PRODUCTION");
    case "policy": {
      const before = state.policy && policies[state.policy.name]!;
      const next = policies[value]!;
      if (state.policy?.name === value) return nothing;
      if (before !== undefined && isLooser(before, next)) {
        const known = state.proposal?.name === value ? state.proposal.people : [];
        if (known.includes(by)) return nothing;
        const people = [...known, by];
        const approvers = people.filter((each) => before.approvers.length === 0 || before.approvers.includes(each));
        const enough = people.length >= (before.notTheSubmitter ? 2 : 1) && approvers.length >= before.required;
        if (!enough) return ofModel(state, { proposal: { name: value, people } });
      }
      const rules = before?.threshold === next.threshold ? state.policy!.rules : state.revision + 1;
      return ofModel(state, { policy: { name: value, rules }, proposal: undefined });
    }
    case "no-traffic":
      if (production === undefined) return refused("NO_CHAMPION");
      return state.arm === undefined ? nothing : ofModel(state, { arm: undefined });
    case "traffic":
      if (production === undefined) return refused("NO_CHAMPION");
      return operation.version === production ? refused("INVALID_INPUT") : stepVersion(state, operation, about);
    case "unalias": {
      const { [value]: named, ...rest } = aliases;
      if (named === undefined) return refused("ALIAS_NOT_FOUND");
      if (value === "champion" && production !== undefined) return refused("ALIAS_FOLLOWS_PRODUCTION");
      return ofModel(state, { aliases: rest }, named);
    }
    default:
      return stepVersion(state, operation, about);
  }
}

/** Whether a version may pass by the second that may not by the first. */
function isLooser(before: Policy, after: Policy): boolean {
  if (after.required < before.required || (before.notTheSubmitter && !after.notTheSubmitter)) return true;
  if (before.approvers.length === 0) return false;
  return after.approvers.length === 0 || !after.approvers.every((each) => before.approvers.includes(each));
}

const emptied = (state: ReferenceState): Partial<ReferenceState> => ({
  deleted: false,
  first: state.versions.length + 1,
  former: [],
  aliases: {},
  proposal: undefined,
});

function stepVersion(state: ReferenceState, { kind, version, value = "", by }: Operation, about: About): Outcome {
  const { production, former, aliases } = state;
  const found = state.versions[version - 1];
  if (found === undefined || version < state.first) return refused("MODEL_VERSION_NOT_FOUND");
  if (kind === "restore") return found.deleted ? ofVersion(state, version, { deleted: false }) : nothing;
  if (found.deleted) return refused("MODEL_VERSION_NOT_FOUND");
  const champion = production === version;
  const others = former.filter((each) => each !== version);
  switch (kind) {
    case "pass":
    case "fail": {
      const passed = kind === "pass";
      const verdict = { ...about, passed };
      if (champion || isRejected(found)) return ofVersion(state, version, { verdict });
      const stage = !passed ? "none" : found.stage === "canary" ? "canary" : "staging";
      const { verdict: before } = found;
      const same = passed && before?.passed && before.champion === about.champion && before.rules === about.rules;
      const lost = same || found.words.length === 0 ? {} : { words: [], withdrawn: false };
      return ofVersion(state, version, { verdict, stage, ...lost });
    }
    case "approve":
    case "reject": {
      const decision = kind === "approve" ? "approved" : "rejected";
      const made = champion ? "approved" : decided(state, found, version);
      if (made === decision) return nothing;
      const byPolicy = !champion && made === "approved" && approvers(state, found).size === 0;
      if (made !== "waiting" && !byPolicy) return refused("ALREADY_DECIDED");
      if (!found.verdict?.passed) return refused("GATE_NOT_PASSED");
      if (!counts(state, found, by)) return refused("NOT_AN_APPROVER");
      if (decision === "approved" && found.words.some((word) => word.by === by)) return nothing;
      if (decision === "approved" && isOutdated(state, found.verdict)) return refused("GATE_OUTDATED");
      const words = [...found.words, { by, decision }];
      if (decision === "approved") return ofVersion(state, version, { words });
      return ofVersion(state, version, { words, stage: "archived" }, { former: others });
    }
    case "promote": {
      if (champion) return nothing;
      const closed = refusalToServe(state, found);
      if (closed !== undefined) return refused(closed);
      if (decided(state, found, version) !== "approved") return refused("NOT_APPROVED");
      if (state.arm?.version === version && state.arm.tested) return refused("CANARY_UNDER_TEST");
      const next = production === undefined ? others : [...others, production];
      const { verdict, words } = found;
      return withChampion(state, version, { served: { verdict, words }, withdrawn: false }, next);
    }
    case "stage": {
      if (champion) return refused("IN_PRODUCTION");
      if (found.stage === value) return nothing;
      const closed = value === "canary" ? refusalToServe(state, found) : undefined;
      return closed === undefined
        ? ofVersion(state, version, { stage: value, ...tried(state, found, version) })
        : refused(closed);
    }
    case "alias":
      if (aliases[value] === version) return nothing;
      if (value === "champion" && production !== undefined) return refused("ALIAS_FOLLOWS_PRODUCTION");
      return ofModel(state, { aliases: { ...aliases, [value]: version } }, version);
    case "tag":
      return found.tag === value ? nothing : ofVersion(state, version, { tag: value });
    case "untag":
      return found.tag === undefined ? nothing : ofVersion(state, version, { tag: undefined });
    case "semver": {
      if (found.semver === value) return nothing;
      const taken = found.semver !== undefined || state.versions.some(({ semver }) => semver === value);
      return taken ? refused("SEMVER_TAKEN") : ofVersion(state, version, { semver: value });
    }
    case "delete": {
      if (champion) return refused("IN_PRODUCTION");
      const left = Object.fromEntries(Object.entries(aliases).filter(([, named]) => named !== version));
      const stage = found.stage === "canary" ? "archived" : found.stage;
      const gone = { deleted: true, stage, ...tried(state, found, version) };
      return ofVersion(state, version, gone, { former: others, aliases: left });
    }
    case "traffic": {
      if (found.stage !== "canary") return refused("NOT_A_CANARY");
      const [arm, tested] = [state.arm, value === "tested"];
      const closed = arm?.version === version ? undefined : refusalToServe(state, found);
      if (closed !== undefined) return refused(closed);
      if (arm?.version === version && arm.tested === tested) return nothing;
      return ofModel(state, { arm: { version, tested } });
    }
    default:
      throw new Error(`the reference knows no ${kind}`);
  }
}

function rolledBack(state: ReferenceState): Outcome {
  const target = state.former.at(-1);
  if (target === undefined) return refused("NOTHING_TO_ROLL_BACK");
  const { served } = state.versions[target - 1]!;
  const back = withChampion(state, target, { ...served, withdrawn: false }, state.former.slice(0, -1));
  if (back.kind !== "changed") return back;
  // Nobody's word carries the one that goes to production again.
  const versions = back.state.versions.map((each, at) =>
    at + 1 === state.production ? { ...each, words: [], withdrawn: true } : each,
  );
  return { ...back, state: { ...back.state, versions } };
}

/** A canary that goes back has been tried: words of before were not about that. */
function tried(state: ReferenceState, found: ReferenceVersion, version: number): Partial<ReferenceVersion> {
  if (found.stage !== "canary") return {};
  const had = found.words.length > 0 || decided(state, found, version) === "approved";
  return { words: [], ...(had ? { withdrawn: true } : {}) };
}

function withChampion(
  state: ReferenceState,
  version: number,
  next: Partial<ReferenceVersion>,
  former: readonly number[],
): Outcome {
  const versions = state.versions.map((each, at) =>
    at + 1 === state.production ? { ...each, stage: "archived" } : each,
  );
  const aliases = { ...state.aliases, champion: version };
  return ofVersion(
    state,
    version,
    { ...next, stage: "production" },
    { versions, former, aliases, production: version },
  );
}

const isRejected = ({ words }: ReferenceVersion): boolean => words.some(({ decision }) => decision === "rejected");

function counts({ policy }: ReferenceState, { submitter }: ReferenceVersion, person: string): boolean {
  const { approvers, notTheSubmitter } = policies[policy?.name ?? "one"]!;
  return !(notTheSubmitter && person === submitter) && (approvers.length === 0 || approvers.includes(person));
}

function decided(
  state: ReferenceState,
  version: ReferenceVersion,
  number: number,
): "approved" | "rejected" | "waiting" {
  if (isRejected(version)) return "rejected";
  const { required } = policies[state.policy?.name ?? "one"]!;
  const alone = version.verdict !== undefined && !version.withdrawn && (state.production ?? 0) <= number;
  return approvers(state, version).size >= (alone ? required : Math.max(required, 1)) ? "approved" : "waiting";
}

const approvers = (state: ReferenceState, version: ReferenceVersion): ReadonlySet<string> =>
  new Set(version.words.map(({ by }) => by).filter((by) => counts(state, version, by)));

/** Returns why a version may not serve. */
function refusalToServe({ production, policy }: ReferenceState, version: ReferenceVersion): string | undefined {
  if (!version.verdict?.passed) return "GATE_NOT_PASSED";
  if (isRejected(version)) return "NOT_APPROVED";
  return isOutdated({ production, policy }, version.verdict) ? "GATE_OUTDATED" : undefined;
}

function isOutdated({ production, policy }: Pick<ReferenceState, "production" | "policy">, about: About): boolean {
  return about.champion !== (production ?? 0) || about.rules !== (policy?.rules ?? 0);
}
