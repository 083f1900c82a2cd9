import type { Load, Operation } from "../../../test/support/operation-verdict";
import { integerBelow } from "../../../test/support/random";
import type { Api } from "../api";

const startTime = 1_767_259_800_000;
const valueAt = (metric: number, step: number): number => Math.sin(metric + 1) + step;

interface HistoryPage {
  readonly points: readonly { readonly step: number; readonly value: number }[];
}

export function trackingLoad(api: Api): Load {
  let run = Promise.resolve("");
  let step = 0;
  return {
    name: "native runs",
    weight: 4,
    async begin(round) {
      step = 0;
      const body = { experiment: "kills", name: `round ${round}` };
      const headers = { "idempotency-key": `kills-round-${round}` };
      const { run: made } = await api.call<{ run: { runId: string } }>("POST", "/v1/runs", body, headers);
      run = Promise.resolve(made.runId);
    },
    draw: (random, id) => {
      if (random() < 0.4) return createRun(api, id);
      step += 1;
      return logPoints(api, run, id, step, 1 + integerBelow(random, 40));
    },
    async audit(entries) {
      const done = entries.filter(({ operation }) => operation.kind === "native: run with metrics").length;
      const body = { filter: "tags.campaign = 'kills'", limit: 1 };
      const { total } = await api.call<{ readonly total: number }>("POST", "/v1/runs/search", body);
      return total > done ? [`${total} runs are there, ${done} were requested`] : [];
    },
  };
}

function createRun(api: Api, id: string): Operation {
  return {
    kind: "native: run with metrics",
    id,
    repeatable: true,
    async send() {
      const body = {
        ...{ experiment: "kills", name: id, tags: { campaign: "kills", operation: id }, params: { id } },
        ...{ metrics: { accuracy: 0.5 }, status: "completed", startedAt: startTime, endedAt: startTime + 1 },
      };
      await api.call("POST", "/v1/runs", body, { "idempotency-key": id });
    },
    async count() {
      const { runs } = await api.call<{
        runs: readonly { run: { runId: string; params: Record<string, string> }; metrics: readonly object[] }[];
      }>("POST", "/v1/runs/search", { filter: `tags.operation = '${id}'`, limit: 10 });
      for (const { run } of runs) {
        const view = await api.call<{ metrics: readonly object[] }>("GET", `/v1/runs/${run.runId}`);
        if (view.metrics.length !== 1 || run.params["id"] !== id)
          throw new Error(`run ${run.runId} has ${view.metrics.length} of 1 metrics`);
      }
      return runs.length;
    },
  };
}

function logPoints(api: Api, run: Promise<string>, id: string, step: number, metrics: number): Operation {
  const names = Array.from({ length: metrics }, (_, at) => `layer/${at}`);
  const series = names.map((metric, at) => ({
    ...{ metric, steps: [step], values: [valueAt(at, step)], times: [startTime + step] },
  }));
  return {
    kind: "native: metrics",
    id,
    repeatable: true,
    async send() {
      await api.call("POST", `/v1/runs/${await run}/metrics`, { series });
    },
    async count() {
      const counts = await Promise.all(
        [names[0]!, names.at(-1)!].map(async (metric) => {
          const query = new URLSearchParams({ metric, limit: "25000" });
          const { points } = await api.call<HistoryPage>("GET", `/v1/runs/${await run}/metrics/history?${query}`);
          const found = points.filter((point) => point.step === step);
          const expected = valueAt(names.indexOf(metric), step);
          if (found.some(({ value }) => value !== expected)) throw new Error(`${metric} is not ${expected}`);
          return found.length;
        }),
      );
      return Math.max(...counts) > 1 ? Math.max(...counts) : Math.min(...counts);
    },
  };
}
