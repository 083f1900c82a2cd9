import type { Step } from "../case";
import { read, send } from "./steps";

export const models = "mlflow/registered-models";
export const versions = "mlflow/model-versions";
export const createModel: Step = send("POST", `${models}/create`, { name: "<nonce>" }, { compare: { body: "error" } });
export const getModel: Step = read(
  `${models}/get`,
  { name: "<nonce>" },
  { compare: { unordered: ["registered_model.latest_versions"] } },
);
export const create = (more: object = {}): Step =>
  send("POST", `${versions}/create`, { name: "<nonce>", source: "s3://bucket/<nonce>", ...more });
export const get = (version = "1"): Step => read(`${versions}/get`, { name: "<nonce>", version });
export const update = (body: object): Step =>
  send("PATCH", `${versions}/update`, { name: "<nonce>", version: "1", ...body });
export const remove = (body: object): Step =>
  send("DELETE", `${versions}/delete`, { name: "<nonce>", version: "1", ...body });
export const setTag = (body: object): Step =>
  send("POST", `${versions}/set-tag`, { name: "<nonce>", version: "1", ...body });
export const deleteTag = (body: object): Step =>
  send("DELETE", `${versions}/delete-tag`, { name: "<nonce>", version: "1", ...body });
export const uri = (version = "1"): Step => read(`${versions}/get-download-uri`, { name: "<nonce>", version });
export const stage = (body: object, more: Partial<Step> = {}): Step =>
  send("POST", `${versions}/transition-stage`, { name: "<nonce>", version: "1", ...body }, more);
export const latest = (stages?: readonly string[], method: "GET" | "POST" = "GET"): Step => ({
  method,
  path: `${models}/get-latest-versions`,
  ...(method === "GET"
    ? { query: { name: "<nonce>", ...(stages ? { stages } : {}) } }
    : { body: { name: "<nonce>", ...(stages ? { stages } : {}) } }),
  compare: { unordered: ["model_versions"] },
});
export const alias = (body: object): Step => send("POST", `${models}/alias`, { name: "<nonce>", ...body });
export const deleteAlias = (body: object): Step => send("DELETE", `${models}/alias`, { name: "<nonce>", ...body });
export const byAlias = (name: string): Step => read(`${models}/alias`, { name: "<nonce>", alias: name });
export const search = (query: Step["query"], more: Partial<Step> = {}): Step => ({
  method: "GET",
  path: `${versions}/search`,
  query,
  ...more,
});
export const makeRun: readonly Step[] = [
  send("POST", "mlflow/experiments/create", { name: "<nonce>" }, { save: { experiment: "experiment_id" } }),
  send(
    "POST",
    "mlflow/runs/create",
    { experiment_id: "<experiment>", start_time: 1, run_name: "r" },
    { save: { run: "run.info.run_id" }, compare: { body: "error" } },
  ),
];
export const makeLoggedModel: Step = send(
  "POST",
  "mlflow/logged-models",
  { experiment_id: "<experiment>", name: "model", source_run_id: "<run>" },
  { save: { logged: "model.info.model_id" }, compare: { body: "error" } },
);
export const refused = "PERMISSION_DENIED";
export const invalid = "INVALID_PARAMETER_VALUE";
export const long = (length: number): string => "x".repeat(length);
