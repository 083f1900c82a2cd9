import { nextSteps } from "../../../api/services/next-steps";
import type { Model, ModelVersion } from "../../../core/registry/model";
import type { ModelPolicy } from "../../../core/registry/policy";
import { verdictOn, versionRow } from "../../support/registry";

const at = "2026-01-01T00:00:00.000Z";
const pending = (metric: string, kind: "http" | "command") => ({
  gate: "check" as const,
  metric,
  value: null,
  limit: null,
  passed: false,
  pending: true as const,
  evidence: "",
  external: { kind, digest: "d" },
});
const policy = (more: object): ModelPolicy => ({
  rules: {
    thresholds: {},
    slices: [],
    fairness: [],
    checks: [{ name: "review", kind: "command", command: ["./review.sh", "two words"], timeoutSeconds: 60 }],
  },
  approvals: { required: 1, approvers: [], notTheSubmitter: false, ...more },
  revision: 1,
  rulesRevision: 1,
  by: "ada",
  at,
});
const ada = { id: "token:ada", names: ["ada"] };
const approved = { decision: "approved", by: "ada", person: ada, reason: "", at } as const;
const rejected = { decision: "rejected", by: "ada", reason: "too slow", at } as const;
const test = { metric: "sales", kind: "binary", goal: "increase", margin: 0, alpha: 0.05, effect: 0.1, minUnits: 9 };
const underTest = { canaries: [{ version: 3, weight: 0.1, ranges: [] }], shadows: [], deal: 1, epoch: 1, test };
const passed = verdictOn({}, true);
const waiting = (...checks: readonly ReturnType<typeof pending>[]) => ({ ...passed, passed: false, checks });

function linesOf(model: Partial<Model>, version: Partial<ModelVersion>, status?: "running" | "killed") {
  const name = model.name ?? "digits";
  const rules = model.policy?.rulesRevision;
  const gate = version.gate && (rules === undefined ? version.gate : { ...version.gate, rulesRevision: rules });
  const row = versionRow(name, 3, { ...version, ...(gate ? { gate } : {}) });
  const run = status && ({ runId: "run-1", status } as const);
  return nextSteps({ name, ...model } as Model, row, run).map(
    ({ kind, what, command = "" }) => `${kind}: ${what}: ${command}`,
  );
}

it.each<[string, Partial<Model>, Partial<ModelVersion>, "running" | "killed" | undefined, readonly string[]]>([
  [
    "an approval is needed",
    {},
    { gate: passed },
    "running",
    ["approval: an approval: ringmaster models approve digits 3"],
  ],
  [
    "a check that a person runs, then an approval, are needed",
    { policy: policy({}) },
    { gate: waiting(pending("review", "command")) },
    "running",
    [
      "check: check review, which a person runs: ringmaster models check digits 3 --name review -- ./review.sh 'two words'",
      "approval: an approval: ringmaster models approve digits 3",
    ],
  ],
  [
    "a second approver is needed",
    { policy: policy({ required: 2, approvers: ["ada", "grace"], notTheSubmitter: true }) },
    { gate: passed, approvals: [approved], submitters: ["token:submitter"] },
    "running",
    [
      "approval: 1 more approval (1 of 2 given; from grace; not from the submitter, submitter): ringmaster models approve digits 3",
    ],
  ],
  [
    "the canary test decides",
    { traffic: underTest as never },
    { gate: passed, approvals: [approved], approval: approved, stage: "canary" },
    "running",
    ["test: the decision of its canary test: ringmaster models traffic decide digits"],
  ],
  [
    "approvals were withdrawn",
    {},
    {
      gate: passed,
      approvalsWithdrawn: { after: "canary-ended", of: ["ada"], revision: 9, by: "grace", reason: "slow", at },
    },
    "running",
    [
      "approval: an approval (approval of ada withdrawn: the canary was ended (revision 9, by grace): slow): ringmaster models approve digits 3",
    ],
  ],
  [
    "it is approved and its run goes on",
    {},
    { gate: passed, approvals: [approved], approval: approved },
    "running",
    ["run: it is being promoted: ringmaster runs watch run-1"],
  ],
  [
    "it is approved and its run has ended",
    {},
    { gate: passed, approvals: [approved], approval: approved },
    "killed",
    ["promotion: promote it: ringmaster models promote digits 3"],
  ],
  [
    "another version was promoted, and its run evaluates it again",
    { production: 2 },
    { gate: passed },
    "running",
    [
      "run: it was compared with no champion, and version 2 is in production: it is evaluated again, and approvals are needed after that: ringmaster runs watch run-1",
    ],
  ],
  [
    "another version was promoted, and its run has ended",
    { production: 2 },
    { gate: passed },
    "killed",
    [
      "evaluation: it was compared with no champion, and version 2 is in production: evaluate it again: ringmaster models judge digits 3",
    ],
  ],
  [
    "its gates were never evaluated",
    {},
    {},
    undefined,
    ["evaluation: the gates have not evaluated it: ringmaster models judge digits 3"],
  ],
  [
    "a gate refused it",
    {},
    { gate: verdictOn({}, false) },
    "killed",
    ["none: the gates refused it; train a new version: ringmaster models gates digits 3"],
  ],
  [
    "a person rejected it",
    {},
    { gate: passed, approvals: [rejected], approval: rejected },
    undefined,
    ["none: rejected by ada: too slow; train a new version: "],
  ],
  ["it is in production", { production: 3 }, { gate: passed }, "killed", ["none: it is in production: "]],
])("next steps where %s", (_name, model, version, status, expected) => {
  expect(linesOf(model, version, status)).toEqual(expected);
});

it("commands quote names for the shell", () => {
  expect(linesOf({ name: "it's größe" }, { gate: passed })).toEqual([
    "approval: an approval: ringmaster models approve 'it'\\''s größe' 3",
  ]);
});
