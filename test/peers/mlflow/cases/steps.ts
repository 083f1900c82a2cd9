import type { MlflowCase, Step } from "../case";

type More = Partial<Step>;

export const send = (method: Step["method"], path: string, body: unknown, more: More = {}): Step => ({
  ...{ method, path, body },
  ...more,
});
export const read = (path: string, query: Step["query"], more: More = {}): Step => ({
  ...{ method: "GET", path, query },
  ...more,
});
export const post = (path: string, body: unknown, more?: More): Step => send("POST", `mlflow/${path}`, body, more);
export const get = (path: string, query: Step["query"], more?: More): Step => read(`mlflow/${path}`, query, more);

/** Time and name of what is made follow from no request. */
export const madeRun: More = { save: { run: "run.info.run_id" } };

/** An experiment of the case's own, saved as `<experiment>`. */
export const experiment = post("experiments/create", { name: "<nonce>" }, { save: { experiment: "experiment_id" } });

/** A run in it, saved as `<run>`. */
export const run = post(
  "runs/create",
  { experiment_id: "<experiment>", start_time: 1_700_000_000_000, run_name: "first", user_id: "ada" },
  madeRun,
);

export const getRun = get("runs/get", { run_id: "<run>" });

/** The answers of preparing steps are compared in one case each, not in all. */
export function prepared(step: Step): Step {
  return { ...step, compare: { body: "error" } };
}

export const caseOf = (name: string, ...steps: readonly Step[]): MlflowCase => ({ name, steps });

/** A case upon an experiment with a run. */
export function onRun(name: string, ...steps: readonly Step[]): MlflowCase {
  return caseOf(name, prepared(experiment), prepared(run), ...steps);
}

/** A case upon an experiment. */
export function onExperiment(name: string, ...steps: readonly Step[]): MlflowCase {
  return caseOf(name, prepared(experiment), ...steps);
}

/** MLflow's server takes what it cannot read for something else, or fails: ours says what is wrong. */
export function refusedByUs(step: Step, why: string): Step {
  return { ...step, ours: { why, status: 400 } };
}
/** The answer of our server where a request names a run or a logged model that the team does not have. */
export const notOurs: NonNullable<Step["ours"]> = {
  why: "what a request names must be the team's, and another team's is answered as what is nowhere",
  status: 404,
  body: "RESOURCE_DOES_NOT_EXIST",
};
