import type { Step } from "../case";

export const models = "mlflow/registered-models";
export const versions = "mlflow/model-versions";
export const createModel: Step = {
  method: "POST",
  path: `${models}/create`,
  body: { name: "<nonce>" },
  compare: { body: "error" },
};
export const getModel: Step = {
  method: "GET",
  path: `${models}/get`,
  query: { name: "<nonce>" },
  compare: { unordered: ["registered_model.latest_versions"] },
};
export const create = (more: object = {}): Step => ({
  method: "POST",
  path: `${versions}/create`,
  body: { name: "<nonce>", source: "s3://bucket/<nonce>", ...more },
});
export const get = (version = "1"): Step => ({
  method: "GET",
  path: `${versions}/get`,
  query: { name: "<nonce>", version },
});
export const update = (body: object): Step => ({
  method: "PATCH",
  path: `${versions}/update`,
  body: { name: "<nonce>", version: "1", ...body },
});
export const remove = (body: object): Step => ({
  method: "DELETE",
  path: `${versions}/delete`,
  body: { name: "<nonce>", version: "1", ...body },
});
export const setTag = (body: object): Step => ({
  method: "POST",
  path: `${versions}/set-tag`,
  body: { name: "<nonce>", version: "1", ...body },
});
export const deleteTag = (body: object): Step => ({
  method: "DELETE",
  path: `${versions}/delete-tag`,
  body: { name: "<nonce>", version: "1", ...body },
});
export const uri = (version = "1"): Step => ({
  method: "GET",
  path: `${versions}/get-download-uri`,
  query: { name: "<nonce>", version },
});
export const stage = (body: object, more: Partial<Step> = {}): Step => ({
  method: "POST",
  path: `${versions}/transition-stage`,
  body: { name: "<nonce>", version: "1", ...body },
  ...more,
});
export const latest = (stages?: readonly string[], method: "GET" | "POST" = "GET"): Step => ({
  method,
  path: `${models}/get-latest-versions`,
  ...(method === "GET"
    ? { query: { name: "<nonce>", ...(stages ? { stages } : {}) } }
    : { body: { name: "<nonce>", ...(stages ? { stages } : {}) } }),
  compare: { unordered: ["model_versions"] },
});
export const alias = (body: object): Step => ({
  method: "POST",
  path: `${models}/alias`,
  body: { name: "<nonce>", ...body },
});
export const deleteAlias = (body: object): Step => ({
  method: "DELETE",
  path: `${models}/alias`,
  body: { name: "<nonce>", ...body },
});
export const byAlias = (name: string): Step => ({
  method: "GET",
  path: `${models}/alias`,
  query: { name: "<nonce>", alias: name },
});
export const search = (query: Step["query"], more: Partial<Step> = {}): Step => ({
  method: "GET",
  path: `${versions}/search`,
  query,
  ...more,
});
export const makeRun: readonly Step[] = [
  {
    method: "POST",
    path: "mlflow/experiments/create",
    body: { name: "<nonce>" },
    save: { experiment: "experiment_id" },
  },
  {
    method: "POST",
    path: "mlflow/runs/create",
    body: { experiment_id: "<experiment>", start_time: 1, run_name: "r" },
    save: { run: "run.info.run_id" },
    compare: { body: "error" },
  },
];
export const makeLoggedModel: Step = {
  method: "POST",
  path: "mlflow/logged-models",
  body: { experiment_id: "<experiment>", name: "model", source_run_id: "<run>" },
  save: { logged: "model.info.model_id" },
  compare: { body: "error" },
};
export const refused = "PERMISSION_DENIED";
export const invalid = "INVALID_PARAMETER_VALUE";
export const long = (length: number): string => "x".repeat(length);
