import type { ComparePorts, CompareRequest } from "../../../api/compare/compare";
import type { MetricPoint } from "../../../core/tracking/metric-store";
import { createRunSearches } from "../../../core/tracking/search/run-search";
import { MemoryRuns } from "../../core/tracking/search/memory-runs";
import { metricsOf, runOf } from "../../core/tracking/search/runs";

export const hostile = `</script><script>alert("x")</script><img src=x onerror='alert(1)'>|\`*_[a](javascript:b)`;

/** Three runs that differ in a few ways, and what a comparison reads of them. */
export function comparedRuns(): ComparePorts & { readonly read: string[] } {
  const runs = new MemoryRuns(["1"]);
  runs.put(
    runOf("a", {
      name: "first",
      startedAt: 3,
      endedAt: 1_503,
      params: { depth: "3", rate: "1e-3", only: "a" },
      code: { commit: "c1" },
      seed: 1,
      datasets: [{ name: "digits", digest: "d".repeat(64), version: 1, sourceType: "", source: "", tags: {} }],
    }),
    metricsOf({ "validation/loss": [0.5, 0.4, 2, 20], acc: 0.9, steps: 7 }),
  );
  runs.put(
    runOf("b", {
      name: hostile,
      startedAt: 2,
      params: { depth: "4", rate: "0.001", [hostile]: hostile },
      code: { commit: "c2", dirty: true },
      seed: 1,
    }),
    metricsOf({ "validation/loss": [0.25, 0.25, 2, 20], acc: 0.9, steps: Number.NaN }),
  );
  runs.put(
    runOf("c", { startedAt: 1, params: { rate: "1E-3" }, seed: 2 }),
    metricsOf({ "validation/loss": [Number.NaN, 1, 2, 20] }),
  );
  runs.put(runOf("d", { startedAt: 0 }));
  const points: Readonly<Record<string, readonly MetricPoint[]>> = {
    "a/validation/loss": [
      { step: 0, time: 1_000, value: 2 },
      { step: 10, time: 3_000, value: Number.NaN },
      { step: 20, time: 2_000, value: 0.5 },
    ],
    "b/validation/loss": [{ step: 5, time: 90_000, value: 0.25 }],
    "c/validation/loss": [
      { step: 0, time: 5_000, value: Number.POSITIVE_INFINITY },
      { step: 20, time: 6_500, value: 1 },
    ],
  };
  const read: string[] = [];
  return {
    read,
    records: runs.records,
    runSearch: createRunSearches().of("default", runs),
    metrics: {
      summariesOf: runs.metrics.summariesOf,
      async downsample(runId, metric, most) {
        read.push(`${runId}/${metric}/${most}`);
        const all = points[`${runId}/${metric}`] ?? [];
        return { points: all.slice(0, most), total: all.length };
      },
    },
  };
}

export function requestOf(request: Partial<CompareRequest>): CompareRequest {
  return { runs: ["a", "b", "c"], metrics: [], goals: {}, axis: "step", points: 100, ...request };
}
