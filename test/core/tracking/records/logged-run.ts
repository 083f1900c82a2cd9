import type { RunRecord } from "../../../../core/tracking/shapes";

export function loggedRun(runId: string, changes: Partial<RunRecord> = {}): RunRecord {
  return {
    runId,
    team: "default",
    experimentId: "0",
    source: "logged",
    name: runId,
    status: "running",
    lifecycle: "active",
    createdBy: "ada",
    startedAt: Date.parse("2026-01-01T00:00:00.000Z"),
    params: {},
    tags: {},
    notes: "",
    datasets: [],
    modelInputs: [],
    modelOutputs: [],
    code: {},
    environment: {},
    artifactUri: `mlflow-artifacts:/0/${runId}/artifacts`,
    revision: 1,
    ...changes,
  };
}
