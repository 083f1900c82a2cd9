import { approvalNeeded } from "../../../core/registry/approvals";
import type { HistoryEntry, Model } from "../../../core/registry/model";
import { verdictOn, versionRow } from "../../support/registry";

const at = "2026-01-01T00:00:00.000Z";
const model: Model = {
  ...{ name: "digits", team: "default", revision: 7, lifecycle: "active", latestVersion: 2, firstVersion: 1 },
  ...{ description: "", tags: {}, aliases: {}, formerProduction: [], createdBy: "ada", createdAt: at, updatedAt: at },
};
const version = versionRow("digits", 2, { gate: verdictOn(model, true), awaitedBy: "run-2" });
const requested: HistoryEntry = { revision: 7, action: "approval-requested", version: 2, by: "run run-2", at };
const judged: HistoryEntry = { ...requested, action: "gated", by: "grace" };

describe("an approval is needed", () => {
  it("where a run waits, with what is waited for and the commands that decide", () => {
    const needed = approvalNeeded("default", requested, model, version);
    expect(needed).toMatchObject({
      ...{ type: "approval.needed", at, team: "default", model: "digits", version: 2, runId: "run-2" },
      ...{ approvals: { required: 1, given: 0 }, approvers: [], checks: [], submittedBy: "submitter" },
      metrics: { accuracy: 0.9 },
      commands: { approve: "ringmaster models approve digits 2", reject: "ringmaster models reject digits 2" },
    });
    expect(approvalNeeded("default", requested, model, version)?.id).toBe(needed?.id);
    const ids = [
      approvalNeeded("default", { ...requested, revision: 8 }, model, version)?.id,
      approvalNeeded("other", requested, model, version)?.id,
      approvalNeeded("default", requested, { ...model, name: "other" }, version)?.id,
    ];
    expect(new Set([needed?.id, ...ids]).size).toBe(4);
  });

  it("where a person had a version judged, with the checks that nobody has answered, and quoted for a shell", () => {
    const check = { gate: "check", metric: "review", value: null, limit: null, passed: false, pending: true } as const;
    const gate = { ...verdictOn(model, false), checks: [{ ...check, evidence: "review is waited for" }] };
    const name = "it's a model";
    expect(approvalNeeded("default", judged, { ...model, name }, { ...version, gate })).toMatchObject({
      checks: ["review"],
      commands: { approve: "ringmaster models approve 'it'\\''s a model' 2" },
    });
  });

  it.each<[string, Parameters<typeof approvalNeeded>[1], Partial<Model>, Partial<typeof version>]>([
    ["of a run's own verdict: the run requests it next", { ...judged, by: "run run-2" }, {}, {}],
    ["of any other change", { ...requested, action: "tagged" }, {}, {}],
    ["once it is approved", requested, {}, { approvals: [{ decision: "approved", by: "grace", reason: "", at }] }],
    ["once it is rejected", requested, {}, { approvals: [{ decision: "rejected", by: "grace", reason: "", at }] }],
    ["of the champion", requested, { production: 2 }, {}],
    ["of a version whose gates refuse it", requested, {}, { gate: verdictOn(model, false) }],
    ["of a deleted version", requested, {}, { lifecycle: "deleted" }],
  ])("never %s", (_, entry, head, row) => {
    expect(approvalNeeded("default", entry, { ...model, ...head }, { ...version, ...row })).toBeUndefined();
  });
});
