import { awaitedOf } from "../../cli/waiting";
import type { ModelPolicy, ModelVersion } from "../../client/generated/schemas";
import { versionRow } from "../support/registry";

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
const approved = { decision: "approved", by: "ada", reason: "", at } as const;

describe("what a run waits for", () => {
  it.each<[string, Partial<ModelVersion>, ModelPolicy | undefined, boolean, readonly string[]]>([
    ["a person", {}, undefined, false, ["an approval: ringmaster models approve digits 3"]],
    [
      "a command of somebody's, then a person",
      { gate: { passed: false, at, checks: [pending("review", "command")] } },
      policy({}),
      false,
      [
        "the check review, which somebody has to run: ringmaster models check digits 3 --name review -- ./review.sh 'two words'",
        "then an approval: ringmaster models approve digits 3",
      ],
    ],
    [
      "a hook",
      { gate: { passed: false, at, checks: [pending("safety", "http")] } },
      policy({}),
      false,
      [
        "the answer of the check safety, whose hook is asked again by: ringmaster models judge digits 3",
        "then an approval: ringmaster models approve digits 3",
      ],
    ],
    [
      "a second person",
      { approvals: [approved] },
      policy({ required: 2, approvers: ["ada", "grace"], notTheSubmitter: true }),
      false,
      ["approvals (2 people's word, 1 given, of ada, grace, not the submitter's): ringmaster models approve digits 3"],
    ],
    [
      "its test, with its approvals",
      { approvals: [approved], approval: approved, stage: "canary" },
      undefined,
      true,
      ["the test that it is under as a canary, which is carried out by: ringmaster models traffic decide digits"],
    ],
    [
      "a person again",
      { approvalsWithdrawn: { after: "canary-ended", revision: 9, by: "ada", at } },
      undefined,
      false,
      ["an approval (those from before it was taken back count no more): ringmaster models approve digits 3"],
    ],
  ])("%s", (_name, more, rules, underTest, expected) => {
    const awaited = awaitedOf(versionRow("digits", 3, more as never) as ModelVersion, rules, underTest);
    expect(awaited.map(({ what, command }) => `${what}: ${command}`)).toEqual(expected);
  });

  it("is said in words that a shell takes", () => {
    const [first] = awaitedOf(versionRow("it's größe", 1) as ModelVersion, undefined, false);
    expect(first!.command).toBe("ringmaster models approve 'it'\\''s größe' 1");
  });
});
