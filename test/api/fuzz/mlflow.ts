import { type Shape, shapesOf } from "../../../api/mlflow/fields";
import type { MlflowOperation } from "../../../api/mlflow/operation";
import { mlflowOperations } from "../../../api/mlflow/operations";
import type { JsonSchema, Parameter } from "../../../api/openapi/model";
import type { Thing } from "./knowledge";
import type { Described } from "./requests";

const keys = ["loss", "val loss", "depth", "team", "b/c", "mlflow.runName", "mlflow.parentRunId"];
const modelJson = { artifact_path: "model", flavors: {}, model_uuid: "m", utc_time_created: "now" };

/** Values by a member's name; `"@run_id"` stands for a run's. All other members get values of their type. */
const goodValues: Readonly<Record<string, readonly unknown[]>> = {
  ...Object.fromEntries(["run_id", "run_uuid", "source_run_id"].map((name) => [name, ["@run_id"]])),
  ...Object.fromEntries(
    ["experiment_id", "experiment_name", "model_id", "version"].map((name) => [name, [`@${name}`]]),
  ),
  ...Object.fromEntries(["key", "metric_key", "tag_key"].map((name) => [name, keys])),
  ...Object.fromEntries(
    ["path", "artifact_path", "artifact_file_path"].map((name) => [name, ["model/MLmodel", "../a"]]),
  ),
  name: ["@name"],
  new_name: ["@fresh"],
  alias: ["blue", "blue", "champion", "latest", "v1"],
  stage: ["Staging", "None", "Archived", "Production", "Nowhere"],
  filter: ["", "tags.team = 'a'", "name LIKE '%a_'", "metrics.loss < 0.5 AND params.depth IN ('3')", "name = 'a' OR"],
  order_by: ["name ASC", "metrics.`val loss` DESC", "start_time", "ASC"],
  model_json: [JSON.stringify(modelJson), "{}"],
  source: ["s3://b/1", "models:/none/1", "mlflow-artifacts:/1/a"],
  page_token: ["", "x"],
  max_results: [1, 2, 100, "5", 0],
  timestamp: [1, 1_700_000_000_000, "17", 0.5],
  step: [0, 1, "3", -5],
};

/** Members of operations that read their requests themselves. */
const text: Shape = { type: "text" };
const texts: Shape = { type: "list", element: text };
const rawMembers: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  "POST /mlflow/runs/search": {
    ...{ experiment_ids: texts, filter: text, order_by: texts, page_token: text, max_results: { type: "integer" } },
    run_view_type: { type: "enum", names: ["ALL", "ACTIVE_ONLY", "DELETED_ONLY"] },
  },
  "GET /get-artifact": { run_id: text, path: text },
  "GET /model-versions/get-artifact": { name: text, version: text, path: text },
  "GET /mlflow/logged-models/{model_id}/artifacts/files": { artifact_file_path: text },
  "POST /mlflow/upload-artifact": { run_uuid: text, path: text },
};

function schemaOf(shape: Shape, name: string): JsonSchema {
  const values = goodValues[name] ?? goodValues[name.replace(/s$/, "")];
  if (values !== undefined && shape.type !== "list") return { enum: values };
  switch (shape.type) {
    case "text":
      return { type: "string" };
    case "double":
      return { type: "number" };
    case "enum":
      return { enum: shape.names };
    case "list":
      return { type: "array", items: schemaOf(shape.element, name), minItems: 1, maxItems: 3 };
    case "message":
      return objectOf(shape.members);
    default:
      return { type: shape.type };
  }
}

function objectOf(members: Readonly<Record<string, Shape>>, required: readonly string[] = []): JsonSchema {
  const properties = Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, schemaOf(shape, name)]));
  return { type: "object", properties, required };
}

function describe({ method, path, version = 2, fields }: MlflowOperation): Described {
  const operationId = `${method} ${path}`;
  const makesName = /(?:experiments|registered-models)\/create$/.test(path);
  const members = fields === undefined ? (rawMembers[operationId] ?? {}) : shapesOf(fields);
  const required = Object.entries(fields ?? {}).flatMap(([name, field]) => (field.required ? [name] : []));
  const inQuery = method === "GET" || path === "/mlflow/upload-artifact";
  const query = Object.entries(members).map(([name, shape]): Parameter => {
    const schema = schemaOf(shape.type === "list" ? shape.element : shape, name);
    return { name, in: "query", required: required.includes(name), schema };
  });
  const template = path.replace(/\*$/, "{experiment_id}/{run_id}/artifacts/{file}");
  const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(
    ([, name]): Parameter => ({ name: name!, in: "path", required: true, schema: { type: "string" } }),
  );
  const body = objectOf(members, required);
  if (makesName) Object.assign(body["properties"] as object, { name: { enum: ["@fresh"] } });
  const content = { "application/json": { schema: body } };
  return {
    method,
    path: `${version === "page" ? "" : `/api/${version}.0`}${template}`,
    operation: {
      ...{ operationId, tags: ["MLflow"], summary: "", responses: {} },
      parameters: [...inPath, ...(inQuery ? query : [])],
      ...(method === "GET" ? {} : { requestBody: { required: true, content } }),
      "x-ringmaster": { class: "write", scope: "write", function: "api", repeatable: "never" },
    },
  };
}

export const mlflowRequests: ReadonlyMap<string, Described> = new Map(
  mlflowOperations.map(describe).map((described) => [described.operation.operationId, described]),
);

/** `mlflow/exceptions.py`, ERROR_CODE_TO_HTTP_STATUS; 413 and 415 are the platform's own. */
const statusOf: Readonly<Record<string, readonly number[]>> = {
  BAD_REQUEST: [400],
  INVALID_PARAMETER_VALUE: [400, 413, 415],
  RESOURCE_ALREADY_EXISTS: [400],
  UNAUTHENTICATED: [401],
  PERMISSION_DENIED: [403],
  ENDPOINT_NOT_FOUND: [404, 405],
  RESOURCE_DOES_NOT_EXIST: [404],
  RESOURCE_CONFLICT: [409],
  // MLflow's server answers it so.
  INVALID_STATE: [500],
  NOT_IMPLEMENTED: [501],
};

/** @throws Error for a refusal that is not as MLflow's clients know refusals */
export function assertMlflowAnswer({ status, headers }: Response, text: string): void {
  if (!headers.get("x-request-id")) throw new Error("there is no x-request-id");
  if (status < 400 || status === 416) return;
  const { error_code: code, message, ...rest } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (typeof code !== "string" || typeof message !== "string" || message === "" || Object.keys(rest).length > 0)
    throw new Error(`${status} is no {error_code, message}: ${text}`);
  if (!statusOf[code]?.includes(status)) throw new Error(`${code} came with ${status}: ${message}`);
  if (/\[object Object\]|\bundefined\b|\n\s+at /.test(message)) throw new Error(`a message for nobody: ${message}`);
}

export interface Requested {
  request(path: string, init: RequestInit): Response | Promise<Response>;
}

export async function furnishMlflow(app: Requested, round: number): Promise<readonly Thing[]> {
  const send = async (path: string, body: string): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const response = await app.request(`/api/2.0/mlflow/${path}`, { method: "POST", headers, body });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${answer}`);
    return answer;
  };
  const call = async <T>(path: string, body: object): Promise<T> => JSON.parse(await send(path, JSON.stringify(body)));
  const tags = [{ key: "team", value: "a" }];
  const experiment_name = `experiment ${round}`;
  const { experiment_id } = await call<{ experiment_id: string }>("experiments/create", {
    name: experiment_name,
    tags,
  });
  const { run } = await call<{ run: { info: { run_id: string } } }>("runs/create", { experiment_id, tags });
  const { run_id } = run.info;
  const metrics = ["loss", "val loss"].map((key) => ({ key, value: 0.5, timestamp: 1, step: 1 }));
  await call("runs/log-batch", { run_id, metrics, params: [{ key: "depth", value: "3" }] });
  await send(`upload-artifact?run_uuid=${run_id}&path=model/MLmodel`, "there");
  const logged = { experiment_id, name: "a model", source_run_id: run_id, tags };
  const { model } = await call<{ model: { info: { model_id: string } } }>("logged-models", logged);
  const { model_id } = model.info;
  const name = `model ${round}`;
  await call("registered-models/create", { name, tags });
  for (const _ of [1, 2]) await call("model-versions/create", { name, source: `runs:/${run_id}/model`, run_id });
  await call("registered-models/alias", { name, alias: "blue", version: "2" });
  const common = { experiment_id, experiment_name, run_id, model_id, tag_key: "team", name };
  return ["1", "2"].map((version) => ({ ...common, version }));
}
