import { seededRandom } from "../elastic/random";
import type { JsonClient } from "./clients";

/** The content of each run: ten parameters and five metrics. */
interface RunContent {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
  readonly metrics: Readonly<Record<string, number>>;
}

const metricNames = ["train/loss", "train/accuracy", "validation/loss", "validation/accuracy", "epoch-seconds"];

/** Returns the content of one run of a grid: equal and different values. */
export function runContent(index: number): RunContent {
  const random = seededRandom(index + 1);
  return {
    name: `trial-${index}`,
    params: {
      learning_rate: String(10 ** (-5 + 4 * random())),
      batch_size: String(2 ** (4 + Math.floor(random() * 6))),
      depth: String(1 + Math.floor(random() * 8)),
      width: String(64 * (1 + Math.floor(random() * 16))),
      dropout: random().toFixed(3),
      optimizer: random() < 0.5 ? "adam" : "sgd",
      weight_decay: String(10 ** (-6 + 3 * random())),
      seed: String(index),
      dataset: "digits@3",
      schedule: "cosine",
    },
    metrics: Object.fromEntries(metricNames.map((metric) => [metric, random()])),
  };
}

/** An API to create an experiment and its runs, and to count them. */
export interface Way {
  readonly name: string;
  /** Requests per run. */
  readonly calls: number;
  prepare(client: JsonClient): Promise<string>;
  create(client: JsonClient, experiment: string, content: RunContent): Promise<void>;
  count(client: JsonClient, experiment: string): Promise<number>;
}

export const native: Way = {
  name: "native API",
  calls: 1,
  async prepare(client) {
    const answer = await client.send("POST", "/api/v1/experiments", { name: "bench" });
    return (answer as { experiment: { experimentId: string } }).experiment.experimentId;
  },
  async create(client, experimentId, content) {
    await client.send("POST", "/api/v1/runs", { experimentId, ...content });
  },
  async count(client, experimentId) {
    let found = 0;
    for (let token: string | undefined = ""; token !== undefined; ) {
      const query = `limit=200${token && `&nextToken=${encodeURIComponent(token)}`}`;
      const answer = await client.send("GET", `/api/v1/experiments/${experimentId}/runs?${query}`);
      const page = answer as { runs: readonly unknown[]; nextToken?: string };
      found += page.runs.length;
      token = page.nextToken;
    }
    return found;
  },
};

/** The minimum number of calls of MLflow's client: `create_run`, then `log_batch` with all parameters and metrics. */
export const mlflow: Way = {
  name: "MLflow's protocol",
  calls: 2,
  async prepare(client) {
    const answer = await client.send("POST", "/api/2.0/mlflow/experiments/create", { name: "bench through mlflow" });
    return (answer as { experiment_id: string }).experiment_id;
  },
  async create(client, experiment_id, { name, params, metrics }) {
    const timestamp = Date.now();
    const created = await client.send("POST", "/api/2.0/mlflow/runs/create", {
      experiment_id,
      run_name: name,
      start_time: timestamp,
    });
    const { run_id } = (created as { run: { info: { run_id: string } } }).run.info;
    await client.send("POST", "/api/2.0/mlflow/runs/log-batch", {
      run_id,
      params: Object.entries(params).map(([key, value]) => ({ key, value })),
      metrics: Object.entries(metrics).map(([key, value]) => ({ key, value, timestamp, step: 0 })),
    });
  },
  async count(client, experiment) {
    let found = 0;
    for (let page_token: string | undefined = ""; page_token !== undefined; ) {
      const query = { experiment_ids: [experiment], max_results: 1_000, ...(page_token ? { page_token } : {}) };
      const answer = await client.send("POST", "/api/2.0/mlflow/runs/search", query);
      const page = answer as { runs?: readonly unknown[]; next_page_token?: string };
      found += page.runs?.length ?? 0;
      page_token = page.next_page_token || undefined;
    }
    return found;
  },
};
