import type { JsonClient } from "../records/clients";

/** A search for a metric below some value, ordered by another metric. The value changes each time, so no answer is cached. */
export interface Search {
  readonly below: number;
  readonly limit: number;
}

/** Runs a search and returns the run ids. */
export type Ask = (client: JsonClient, experiment: string, search: Search) => Promise<readonly string[]>;

export const nativeSearch: Ask = async (client, experiment, { below, limit }) => {
  const answer = await client.send("POST", "/api/v1/runs/search", {
    experiments: [experiment],
    filter: `metrics.train/loss < ${below}`,
    orderBy: ["metrics.validation/loss"],
    limit,
  });
  return (answer as { runs: readonly { run: { name: string } }[] }).runs.map(({ run }) => run.name);
};

/** Compares a param as a number, which MLflow's language cannot. */
export const nativeParamSearch: Ask = async (client, experiment, { below, limit }) => {
  const answer = await client.send("POST", "/api/v1/runs/search", {
    experiments: [experiment],
    filter: `params.learning_rate BETWEEN 1e-4 AND ${1e-4 + below / 1_000}`,
    orderBy: ["metrics.val_loss"],
    limit,
  });
  return (answer as { runs: readonly { run: { name: string } }[] }).runs.map(({ run }) => run.name);
};

export const mlflowSearch: Ask = async (client, experiment, { below, limit }) => {
  const answer = await client.send("POST", "/api/2.0/mlflow/runs/search", {
    experiment_ids: [experiment],
    filter: `metrics.\`train/loss\` < ${below}`,
    order_by: ["metrics.`validation/loss` ASC"],
    max_results: limit,
  });
  const { runs = [] } = answer as { runs?: readonly { info: { run_name: string } }[] };
  return runs.map(({ info }) => info.run_name);
};
