import type { MetricSummary } from "../../../../core/tracking/metric-store";
import type { SearchedRun, SearchQuery } from "../../../../core/tracking/search/query";
import { RowMaker, type SearchRow } from "../../../../core/tracking/search/row";
import { planQuery, selectPage } from "../../../../core/tracking/search/run-search";
import type { DatasetInput, RunRecord } from "../../../../core/tracking/shapes";

/** A run with what a test is about; the rest is usual. */
export function runOf(runId: string, given: Partial<RunRecord> = {}): RunRecord {
  return {
    runId,
    team: "default",
    experimentId: "1",
    source: "logged",
    name: runId,
    status: "completed",
    lifecycle: "active",
    createdBy: "ada",
    startedAt: 1_000,
    params: {},
    tags: {},
    notes: "",
    datasets: [],
    modelInputs: [],
    modelOutputs: [],
    code: {},
    environment: {},
    artifactUri: `mlflow-artifacts:/1/${runId}/artifacts`,
    revision: 1,
    ...given,
  };
}

export function datasetOf(name: string, given: Partial<DatasetInput> = {}): DatasetInput {
  return { name, digest: `digest-${name}`, sourceType: "local", source: "{}", tags: {}, ...given };
}

/** `{loss: 0.5}` or `{loss: [last, min, max, step]}`. */
export function metricsOf(metrics: Readonly<Record<string, number | readonly number[]>>): readonly MetricSummary[] {
  return Object.entries(metrics).map(([metric, given]) => {
    const [last, min, max, lastStep, lastTime = 0] = typeof given === "number" ? [given, given, given, 0] : given;
    return { metric, last: last!, min: min!, max: max!, lastStep: lastStep!, lastTime };
  });
}

export type TestRun = SearchedRun;

export function testRun(
  record: RunRecord,
  metrics: Readonly<Record<string, number | readonly number[]>> = {},
): TestRun {
  return { record, metrics: metricsOf(metrics) };
}

export const experimentNames = new Map([
  ["1", "digits"],
  ["2", "prices"],
]);

export function rowsOf(runs: readonly TestRun[]): readonly SearchRow[] {
  const maker = new RowMaker();
  return runs.map(({ record, metrics }) => maker.make(record, metrics));
}

export function queryOf(query: Partial<SearchQuery>): SearchQuery {
  return { experimentIds: [], filter: "", orderBy: [], limit: 1_000, view: "active", ...query };
}

export function found(runs: readonly TestRun[], query: Partial<SearchQuery>, now = 0): readonly string[] {
  const { rows } = selectPage(planQuery(queryOf(query), now), rowsOf(runs), { experimentNames });
  return rows.map(({ record }) => record.runId);
}
