import * as approvals from "../../core/registry/approval-requests";
import type { GateVerdict } from "../../core/registry/gates/verdict";
import type { NewVersion } from "../../core/registry/lifecycle";
import type { Model, ModelVersion } from "../../core/registry/model";
import type { Registry } from "../../core/registry/registry";
import { decideApproval, promote, recordGate, requestApproval } from "../../core/registry/transitions";
import type { TestPlatform } from "./embedded";
import { runOf } from "./fixtures";

const at = "2026-01-01T00:00:00.000Z";
const actor = { by: "tester", at };

export function verdictOn({ production, policy }: Pick<Model, "production" | "policy">, passed: boolean): GateVerdict {
  return {
    passed,
    at,
    champion: production,
    rulesRevision: policy?.rulesRevision,
    checks: [{ gate: "threshold", metric: "accuracy", value: 0.9, limit: 0.9, passed, evidence: "accuracy is 0.9" }],
  };
}

export async function judgeNow(registry: Registry, model: string, version: number): Promise<void> {
  const head = await registry.head(model);
  await registry.apply(model, [version], recordGate(version, verdictOn(head, true), actor));
}

/** Promotes a version: judged against the present champion, approved, promoted. */
export async function promoteJudged(registry: Registry, model: string, version: number): Promise<void> {
  await judgeNow(registry, model, version);
  await registry.apply(model, [version], decideApproval(version, "approved", actor));
  await registry.apply(model, [version], promote(version, actor));
}

export function versionOfRun(model: string, runId: string): NewVersion & { readonly runId: string } {
  return {
    model,
    runId,
    weightsSha256: "a".repeat(64),
    artifactKey: `runs/${runId}/artifacts/manifest.json`,
    dataset: { name: "digits", version: 1, digest: "d" },
    metrics: { accuracy: 0.9 },
    evaluationReport: { sha256: "e".repeat(64), bytes: 1 },
  };
}

/** A row as it stands before anything was decided. */
export function versionRow(model: string, version: number, more: Partial<ModelVersion> = {}): ModelVersion {
  return {
    ...versionOfRun(model, `run-${version}`),
    version,
    stage: "none",
    lifecycle: "active",
    description: "",
    tags: {},
    submittedBy: "submitter",
    approvals: [],
    createdAt: at,
    updatedAt: at,
    ...more,
  };
}

/** Makes a version of a run wait for its approval, as the approval's execution does. Its token is `token-MODEL`. */
export async function waitForApproval(
  platform: TestPlatform,
  runId: string,
  model: string,
  version: number,
): Promise<void> {
  await platform.runs.create(runOf(runId, { model }));
  const by = { by: `run ${runId}`, at };
  await platform.registry.apply(model, [version], requestApproval(version, { id: runId, runId, again: false }, by));
  await approvals.wait(platform as never, { runId, model, version, request: runId }, `token-${model}`);
}
