import type { Person } from "../../../core/access/principals";
import { decisionOn } from "../../../core/registry/approvals";
import type { ModelState } from "../../../core/registry/change";
import { emptyModel, setPolicy } from "../../../core/registry/lifecycle";
import type { Approval, Model, ModelVersion } from "../../../core/registry/model";
import type { ApprovalRules } from "../../../core/registry/policy";
import { defaultApprovals, noRules } from "../../../core/registry/policy";
import { decideApproval, promote } from "../../../core/registry/transitions";
import { verdictOn, versionRow } from "../../support/registry";

const at = "2026-01-01T00:00:00.000Z";
const person = (id: string, ...names: readonly string[]): Person => ({ id, names });
const ada = person("AROAADA", "arn:aws:iam::1:role/ada");
const grace = person("AROAGRACE", "arn:aws:iam::1:role/grace");
const as = (by: string, of: Person) => ({ by, person: of });
const approval = (by: string, of?: Person): Approval => ({
  ...{ decision: "approved", by, reason: "", at },
  ...(of ? { person: of } : {}),
});

function stateOf(approvals: Partial<ApprovalRules>, version: Partial<ModelVersion> = {}): ModelState {
  const policy = {
    ...{ rules: noRules, revision: 1, rulesRevision: 1, by: "ada", at },
    approvals: { ...defaultApprovals, ...approvals },
  };
  const model: Model = { ...emptyModel("digits", "default", { by: "ada", at }), revision: 3, latestVersion: 1, policy };
  const row = versionRow("digits", 1, { gate: verdictOn(model, true), stage: "staging", ...version });
  return { model, version: (number) => (number === 1 ? row : undefined) };
}

type Caller = { readonly by: string; readonly person?: Person };

/** Lets callers approve one after another. @returns the state after them, or the code of the first refusal */
function approvedBy(state: ModelState, ...callers: readonly Caller[]): ModelState | string {
  let now = state;
  for (const caller of callers) {
    try {
      const { version: before } = now;
      const change = decideApproval(1, "approved", { ...caller, at })(now);
      now = {
        model: change?.model ?? now.model,
        version: (n) => change?.versions.find((v) => v.version === n) ?? before(n),
      };
    } catch (error) {
      return (error as { code: string; details: { refusal: string } }).details.refusal;
    }
  }
  return now;
}
const decided = (state: ModelState | string): string =>
  typeof state === "string" ? state : decisionOn(state.model, state.version(1)!).state;

describe("approvals under a policy that compares people", () => {
  it.each<[string, readonly Caller[], string]>([
    ["two people", [as("ada", ada), as("grace", grace)], "approved"],
    ["one person in two sessions", [as("role/one", ada), as("role/two", ada)], "waiting"],
    ["one person who took another's name", [as("ada", ada), as("grace", ada)], "waiting"],
    ["two people under one name", [as("them", ada), as("them", grace)], "approved"],
    ["a caller without an identity", [{ by: "ada" }], "no-identity"],
  ])("two are required: %s", (_name, callers, expected) => {
    expect(decided(approvedBy(stateOf({ required: 2 }), ...callers))).toBe(expected);
  });

  it("counts one person once, also where the approval was given under another policy", () => {
    const before = approvedBy(stateOf({ required: 2, approvers: [ada.id, grace.id] }), { by: "ada", person: ada });
    const { version } = before as ModelState;
    const { model } = stateOf({ required: 2 });
    expect(decided(approvedBy({ model, version }, { by: "ada again", person: ada }))).toBe("waiting");
  });

  it.each<[string, Person, string]>([
    ["their id", ada, "approved"],
    ["a name that they cannot change", grace, "approved"],
    ["another's display name", person("AROAMALLORY"), "not-listed"],
  ])("approvers are known by %s", (_name, who, expected) => {
    const rules = { approvers: [ada.id, "arn:aws:iam::1:role/grace", "ada"] };
    expect(decided(approvedBy(stateOf(rules), { by: "ada", person: who }))).toBe(expected);
  });

  it.each<[string, Partial<ModelVersion>, Person, string]>([
    ["the submitter under another name", { submittedBy: "another person", submitters: [ada.id] }, ada, "submitter"],
    ["another under the submitter's name", { submittedBy: "ada", submitters: [grace.id] }, ada, "approved"],
    ["the author of the rule that submitted it", { submitters: [grace.id, ada.id] }, ada, "submitter"],
    ["anybody, of a version whose submitter is not known", { submittedBy: "grace" }, ada, "unknown-submitter"],
  ])("the submitter is excluded: %s", (_name, version, who, expected) => {
    expect(decided(approvedBy(stateOf({ notTheSubmitter: true }, version), { by: "ada", person: who }))).toBe(expected);
  });
});

describe("a policy that requires nobody", () => {
  const { policy } = stateOf({ required: 0 }).model;
  const withdrawn = (after: "rolled-back" | "canary-ended" | "evaluated-again") => ({
    approvalsWithdrawn: { after, revision: 2, by: "grace", at },
  });
  const passed = verdictOn({ policy }, true);
  const failed = verdictOn({ policy }, false);
  const checks = verdictOn({}, true).checks;
  const unanswered = { ...failed, checks: checks.map((one) => ({ ...one, passed: false, pending: true as const })) };
  const waived = { ...passed, checks: checks.map((one) => ({ ...one, waived: true as const })) };
  const rejection: Approval = { ...approval("ada", ada), decision: "rejected" };
  it.each<[string, Partial<ModelVersion>, number | undefined, string]>([
    ["approves a version that passed its gates", {}, undefined, "promoted"],
    ["approves one that passed them again", withdrawn("evaluated-again"), undefined, "promoted"],
    ["does not approve one whose gate failed", { gate: failed }, undefined, "GATE_NOT_PASSED"],
    ["does not approve one that was not evaluated", { gate: undefined }, undefined, "GATE_NOT_PASSED"],
    ["does not approve one whose check has no answer", { gate: unanswered }, undefined, "GATE_NOT_PASSED"],
    ["does not approve one that no gate measured", { gate: { ...passed, checks: [] } }, undefined, "NOT_APPROVED"],
    ["does not approve one whose only gate was waived", { gate: waived }, undefined, "NOT_APPROVED"],
    ["does not approve one that was rolled back", withdrawn("rolled-back"), undefined, "NOT_APPROVED"],
    ["does not approve one whose canary was ended", withdrawn("canary-ended"), undefined, "NOT_APPROVED"],
    ["does not replace a newer champion", { gate: verdictOn({ production: 2, policy }, true) }, 2, "NOT_APPROVED"],
    ["does not overrule a rejection", { approvals: [rejection] }, undefined, "NOT_APPROVED"],
  ])("%s", (_name, version, production, expected) => {
    const state = stateOf({ required: 0 }, version);
    const champion = production && versionRow("digits", production, { stage: "production" });
    const both = {
      model: { ...state.model, production },
      version: (n: number) => (n === 1 ? state.version(1) : champion || undefined),
    };
    const outcome = () => {
      try {
        return promote(1, { by: "run run-1", at })(both)!.history.action;
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(outcome()).toBe(expected);
    if (expected !== "NOT_APPROVED" || version.approvals) return;
    // A person may still do it.
    const approved = approvedBy(both, { by: "ada", person: ada }) as ModelState;
    expect(promote(1, { by: "ada", at })(approved)!.history).toMatchObject({ action: "promoted" });
  });

  it("may be overruled by a person's rejection until the promotion", () => {
    const rejected = decideApproval(1, "rejected", { by: "ada", person: ada, at })(stateOf({ required: 0 }));
    expect(rejected!.versions[0]).toMatchObject({ stage: "archived", approval: { decision: "rejected" } });
  });

  it("is named by each promotion, with the people who set it", () => {
    let state = stateOf({ required: 2 });
    for (const who of [ada, grace]) {
      const set = setPolicy(noRules, { ...defaultApprovals, required: 0 }, { by: who.id, person: who, at })(state)!;
      state = { ...state, model: set.model };
    }
    expect(state.model.policy).toMatchObject({ approvals: { required: 0 }, by: grace.id, proposedBy: [ada.id] });
    const promoted = promote(1, { by: "run run-1", at })(state)!;
    const { revision } = state.model.policy!;
    expect(promoted.versions[0]!.served!.approval.policy).toEqual({ revision, by: [ada.id, grace.id] });
    expect(promoted.history.reason).toBe(
      `approved by the policy (revision ${revision}, set by ${ada.id}, ${grace.id})`,
    );
  });

  it.each<[string, Partial<ApprovalRules>, boolean]>([
    ["of one approval, by one caller, even without an identity", {}, true],
    ["of two approvals", { required: 2 }, false],
    ["of approvals by others than the submitter", { notTheSubmitter: true }, false],
  ])("replaces a policy %s", (_name, before, atOnce) => {
    const set = (actor: { by: string; person?: Person }) =>
      setPolicy(noRules, { ...defaultApprovals, required: 0 }, { ...actor, at })(stateOf(before));
    if (!atOnce) expect(() => set({ by: "ada" })).toThrow(/not authenticated as a person/);
    const one = set(atOnce ? { by: "ada" } : { by: "ada", person: ada })!.model;
    expect(one.policy!.approvals.required === 0).toBe(atOnce);
  });
});

describe("a policy that people set", () => {
  const alan = person("AROAALAN", "alan");
  const setBy =
    (approvals: Partial<ApprovalRules>, rules = noRules) =>
    (state: ModelState, who: Person | undefined): ModelState => {
      const actor = { by: who?.id ?? "another person", at, ...(who ? { person: who } : {}) };
      const change = setPolicy(rules, { ...defaultApprovals, ...approvals }, actor)(state);
      return change ? { ...state, model: change.model } : state;
    };

  const listed = { approvers: [ada.id] };
  it.each<[string, Partial<ApprovalRules>, Partial<ApprovalRules>, readonly Person[], number]>([
    ["fewer people", { required: 2 }, {}, [ada, ada, grace], 3],
    ["fewer of more people", { required: 3 }, { required: 2 }, [ada, grace, alan], 3],
    ["the submitter", { notTheSubmitter: true }, {}, [ada, grace], 2],
    ["others than those listed", listed, { approvers: [ada.id, "x"] }, [ada], 1],
    ["everybody, at the request of those listed alone", listed, {}, [grace, ada], 2],
    ["the submitter, requested by an approver", { ...listed, notTheSubmitter: true }, listed, [ada, grace], 2],
    ["others, of so many listed", { required: 2, approvers: [ada.id, "alan"] }, {}, [grace, ada, alan], 3],
  ])("is loosened by as many people as it requires: %s", (_name, before, after, people, needed) => {
    const set = setBy(after);
    let state = stateOf(before);
    for (const [at, who] of people.entries()) {
      expect([at, state.model.policy!.approvals]).toEqual([at, { ...defaultApprovals, ...before }]);
      state = set(state, who);
    }
    expect(people).toHaveLength(needed);
    expect(state.model).toMatchObject({ policy: { approvals: { ...defaultApprovals, ...after } } });
    expect(state.model.policyProposal).toBeUndefined();
  });

  it("is tightened by one, and so by its other rules", () => {
    const stricter = setBy({ required: 3, approvers: [ada.id, grace.id, alan.id], notTheSubmitter: true });
    expect(stricter(stateOf({ required: 2 }), ada).model.policy!.approvals.required).toBe(3);
    const other = setBy({ required: 2 }, { ...noRules, thresholds: { accuracy: 0.5 } });
    expect(other(stateOf({ required: 2 }), undefined).model.policy!.rules.thresholds).toEqual({ accuracy: 0.5 });
  });

  it("is not loosened by requests for different policies, nor by one person again", () => {
    const [one, two] = [setBy({}), setBy({}, { ...noRules, thresholds: { accuracy: 0.1 } })];
    const mixed = two(one(stateOf({ required: 2 }), ada), grace);
    expect(mixed.model).toMatchObject({ policy: { approvals: { required: 2 } }, policyProposal: { requests: [{}] } });
    expect(two(mixed, grace)).toBe(mixed);
  });

  it("is not loosened by a caller without an identity", () => {
    expect(() => setBy({})(stateOf({ required: 2 }), undefined)).toThrow("cannot loosen the policy of digits");
  });

  it("leaves an approval under the looser rules waiting until they are in force", () => {
    const state = stateOf({ required: 2 }, { approvals: [approval("ada", ada)] });
    const proposed = setBy({})(state, ada);
    expect(decided(proposed)).toBe("waiting");
    expect(decided(setBy({})(proposed, grace))).toBe("approved");
  });
});

describe("approvals of callers without an identity, which have names alone", () => {
  const stored = [approval("ada"), approval("grace")];

  it("count where the policy compares nobody", () => {
    const { model, version } = stateOf({}, { approvals: [approval("ada")] });
    expect(decisionOn(model, version(1)!)).toMatchObject({ state: "approved" });
    expect(promote(1, { by: "ada", at })({ model, version })!.model.production).toBe(1);
  });

  it.each<[string, Partial<ApprovalRules>]>([
    ["several people", { required: 2 }],
    ["people by name", { approvers: ["ada", "grace"] }],
    ["another than the submitter", { notTheSubmitter: true }],
  ])("count for nobody where the policy asks for %s", (_name, rules) => {
    const { model, version } = stateOf(rules, { approvals: stored, submitters: ["AROAOTHER"] });
    expect(decisionOn(model, version(1)!)).toMatchObject({ state: "waiting", given: 0 });
    expect(() => promote(1, { by: "ada", at })({ model, version })).toThrow("has 0 of");
  });

  it("do not keep their givers from approving again", () => {
    const state = stateOf({ required: 2 }, { approvals: stored });
    expect(decided(approvedBy(state, { by: "ada", person: ada }, { by: "grace", person: grace }))).toBe("approved");
  });

  it("stand with the version that serves upon them", () => {
    const { model, version } = stateOf({ required: 2 });
    const word = approval("ada");
    const served = { gate: version(1)!.gate!, approvals: [word], approval: word };
    const champion = { ...version(1)!, stage: "production" as const, approvals: [word], approval: word, served };
    const again = decideApproval(1, "approved", { by: "grace", person: grace, at });
    expect(again({ model: { ...model, production: 1 }, version: () => champion })).toBeUndefined();
  });
});
