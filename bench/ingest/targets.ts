import type { HttpClient } from "./client";

export interface Point {
  readonly step: number;
  readonly value: number;
  readonly time: number;
}

export interface Target {
  readonly name: string;
  readonly logPath: (runId: string) => string;
  /** Returns a call that logs the next step of every metric, as texts between which the step is inserted. */
  readonly template: (runId: string, metrics: readonly string[]) => readonly string[];
  createRun(client: HttpClient): Promise<string>;
  history(client: HttpClient, runId: string, metric: string): Promise<readonly Point[]>;
}

/** Returns the value of a metric at every step, so that a reader can check it. */
export const valueAt = (metric: number): number => Math.sin(metric + 1);
export const startTime = 1_767_259_800_000;

export const nativeTarget: Target = {
  name: "native",
  logPath: (runId) => `/api/v1/runs/${runId}/metrics`,
  template: (_runId, metrics) =>
    split(
      JSON.stringify({
        series: metrics.map((metric, i) => ({ metric, steps: [mark], values: [valueAt(i)], times: [startTime] })),
      }),
    ),
  async createRun(client) {
    const { run } = (await client.json("POST", "/api/v1/runs", { experiment: "ingest" })) as { run: { runId: string } };
    return run.runId;
  },
  async history(client, runId, metric) {
    const points: Point[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({
        metric,
        limit: "25000",
        ...(token === undefined ? {} : { nextToken: token }),
      });
      const page = (await client.json("GET", `/api/v1/runs/${runId}/metrics/history?${query}`)) as {
        readonly points: readonly Point[];
        readonly nextToken?: string;
      };
      points.push(...page.points);
      token = page.nextToken;
    } while (token !== undefined);
    return points;
  },
};

export const mlflowTarget: Target = {
  name: "mlflow",
  logPath: () => "/api/2.0/mlflow/runs/log-batch",
  template: (runId, metrics) =>
    split(
      JSON.stringify({
        run_id: runId,
        metrics: metrics.map((key, i) => ({ key, value: valueAt(i), timestamp: startTime, step: mark })),
      }),
    ),
  async createRun(client) {
    const { run } = (await client.json("POST", "/api/2.0/mlflow/runs/create", {
      experiment_id: "0",
      start_time: startTime,
    })) as { run: { info: { run_id: string } } };
    return run.info.run_id;
  },
  async history(client, runId, metric) {
    const points: Point[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({
        run_id: runId,
        metric_key: metric,
        max_results: "25000",
        ...(token === undefined ? {} : { page_token: token }),
      });
      const page = (await client.json("GET", `/api/2.0/mlflow/metrics/get-history?${query}`)) as {
        readonly metrics?: readonly { readonly step?: string; readonly value: number; readonly timestamp: string }[];
        readonly next_page_token?: string;
      };
      for (const { step = 0, value, timestamp } of page.metrics ?? [])
        points.push({ step: Number(step), value, time: Number(timestamp) });
      token = page.next_page_token || undefined;
    } while (token !== undefined);
    return points;
  },
};

const mark = "@step@";

function split(json: string): readonly string[] {
  return json.split(JSON.stringify(mark));
}
