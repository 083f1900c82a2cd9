import type { CaseGroup, MlflowCase, Step } from "../case";
import { caseOf, experiment, get, onExperiment, onRun, post, refusedByUs, send } from "./steps";

const create = (body: object = {}): Step =>
  post(
    "logged-models",
    { experiment_id: "<experiment>", name: "net", ...body },
    { save: { model: "model.info.model_id" } },
  );
const one = "mlflow/logged-models/<model>";
const getModel: Step = { method: "GET", path: one };
const finalize = (status: unknown): Step => send("PATCH", one, { model_id: "<model>", status });
const remove: Step = { method: "DELETE", path: one };
const tags = (list: unknown): Step => send("PATCH", `${one}/tags`, { model_id: "<model>", tags: list });
const untag = (key: string): Step => ({ method: "DELETE", path: `${one}/tags/${key}` });
const params = (list: unknown): Step => send("POST", `${one}/params`, { model_id: "<model>", params: list });
const nowhere = "mlflow/logged-models/m-00000000000000000000000000000000";
const withModel = (name: string, ...steps: readonly Step[]): MlflowCase => onExperiment(name, create(), ...steps);

const single: readonly MlflowCase[] = [
  withModel("create and get", getModel),
  onExperiment(
    "with all of it",
    create({
      model_type: "Classifier",
      source_run_id: "",
      params: [{ key: "lr", value: "0.1" }],
      tags: [{ key: "t", value: "1" }],
    }),
    getModel,
  ),
  onExperiment(
    "named by nobody",
    post("logged-models", { experiment_id: "<experiment>" }, { compare: { ignore: ["model.info.name"] } }),
  ),
  ...["READY", "UPLOAD_FAILED", "PENDING"].map((status) =>
    withModel(`status ${status}`, finalize(`LOGGED_MODEL_${status}`), getModel),
  ),
  withModel("a status by its number", finalize(2), getModel),
  withModel("without a status", send("PATCH", one, { model_id: "<model>" }), send("PATCH", one, { status: 2 })),
  withModel("deleted", remove, getModel, { ...getModel, query: { allow_deleted: "true" } }),
  withModel(
    "tags",
    tags([
      { key: "a", value: "1" },
      { key: "b", value: "2" },
      { key: "a", value: "3" },
    ]),
    getModel,
    untag("a"),
    getModel,
    untag("a"),
  ),
  withModel("params", params([{ key: "a", value: "1" }]), params([{ key: "b", value: "2" }]), getModel),
  withModel("files of none", { method: "GET", path: `${one}/artifacts/directories` }),
  caseOf(
    "of nowhere",
    { method: "GET", path: nowhere },
    { method: "DELETE", path: nowhere },
    send("PATCH", nowhere, { model_id: "m-00000000000000000000000000000000", status: 2 }),
    send("PATCH", `${nowhere}/tags`, { tags: [{ key: "a", value: "1" }] }),
    { method: "DELETE", path: `${nowhere}/tags/a` },
    send("POST", `${nowhere}/params`, { model_id: "m-00000000000000000000000000000000", params: [] }),
    { method: "GET", path: `${nowhere}/artifacts/directories` },
  ),
  caseOf(
    "names that are none",
    experiment,
    ...["a/b", "a:b", "a.b", "a%b", 'a"b', "a'b"].map((name) =>
      post("logged-models", { experiment_id: "<experiment>", name }),
    ),
  ),
  caseOf(
    "in an experiment of nowhere",
    post("logged-models", { experiment_id: "987654321" }),
    post("logged-models", {}),
  ),
  onExperiment(
    "in a deleted experiment",
    post("experiments/delete", { experiment_id: "<experiment>" }),
    post("logged-models", { experiment_id: "<experiment>" }),
  ),
  onRun(
    "metrics of a run are the model's",
    create(),
    post("runs/log-metric", {
      run_id: "<run>",
      key: "acc",
      value: 0.5,
      timestamp: 10,
      step: 1,
      model_id: "<model>",
      dataset_name: "digits",
      dataset_digest: "d1",
    }),
    post("runs/log-batch", {
      run_id: "<run>",
      metrics: [
        { key: "acc", value: 0.75, timestamp: 11, step: 2, model_id: "<model>" },
        { key: "other", value: 1, timestamp: 1 },
      ],
    }),
    getModel,
    get("runs/get", { run_id: "<run>" }),
  ),
];

const search = (body: object = {}): Step =>
  post(
    "logged-models/search",
    { experiment_ids: ["<experiment>"], ...body },
    { compare: { ignore: ["models.*.info.model_id", "models.*.info.artifact_uri"] } },
  );
const score = (model: string, value: number, dataset?: string): Step =>
  post("runs/log-metric", {
    run_id: "<run>",
    key: "acc",
    value,
    timestamp: 10,
    step: 1,
    model_id: model,
    ...(dataset ? { dataset_name: dataset, dataset_digest: "d" } : {}),
  });
const three = (name: string, ...steps: readonly Step[]): MlflowCase =>
  onRun(
    name,
    ...["a", "b", "c"].map((letter, i) =>
      post(
        "logged-models",
        {
          experiment_id: "<experiment>",
          name: letter,
          model_type: i === 0 ? "x" : "Y",
          params: [{ key: "n", value: String(i) }],
          tags: i === 1 ? [{ key: "t", value: "Yes" }] : [],
        },
        { save: { [letter]: "model.info.model_id" } },
      ),
    ),
    score("<a>", 0.5),
    score("<b>", 0.75, "digits"),
    ...steps,
  );
const byName = { order_by: [{ field_name: "name" }] };

const searches: readonly MlflowCase[] = [
  three("all, in an order", search(byName), search({ order_by: [{ field_name: "name", ascending: false }] })),
  three(
    "by attribute",
    search({ ...byName, filter: "name = 'a'" }),
    search({ ...byName, filter: "name != 'a'" }),
    search({ ...byName, filter: "model_type ILIKE 'y'" }),
    search({ ...byName, filter: "name IN ('a', 'c')" }),
    search({ ...byName, filter: "creation_timestamp > 0" }),
  ),
  three(
    "by param, tag and metric",
    search({ ...byName, filter: "params.n = '1'" }),
    search({ ...byName, filter: "tags.t = 'Yes'" }),
    search({ ...byName, filter: "metrics.acc > 0.6" }),
    search({ ...byName, filter: "metrics.acc >= 0.5 AND params.n = '0'" }),
  ),
  three(
    "on data",
    {
      ...search({ ...byName, filter: "metrics.acc > 0", datasets: [{ dataset_name: "digits" }] }),
      ours: {
        why: "a name without a digest means any digest; MLflow's server looks for metrics that have none",
        status: 200,
      },
    },
    search({ ...byName, datasets: [{ dataset_name: "digits", dataset_digest: "d" }] }),
  ),
  three(
    "in the order of a metric",
    search({ order_by: [{ field_name: "metrics.acc", ascending: false }, { field_name: "name" }] }),
  ),
  three("page by page", search({ ...byName, max_results: 2 })),
  three("without the deleted", { method: "DELETE", path: "mlflow/logged-models/<a>" }, search(byName)),
  onExperiment("nothing found", search()),
  caseOf(
    "without experiments",
    post("logged-models/search", {}),
    post("logged-models/search", { experiment_ids: "0" }),
  ),
  ...["name > 'a'", "metrics.acc LIKE 'x'", "things.a = 'b'", "name = 'a' OR name = 'b'"].map((filter) =>
    onExperiment(`a filter that is none: ${filter}`, search({ filter })),
  ),
  onExperiment("an attribute that nobody knows", refusedByUs(search({ filter: "color = 'a'" }), "MLflow fails")),
  onExperiment(
    "orders that are none",
    search({ order_by: [{ field_name: "nothing" }] }),
    search({ order_by: [{ field_name: "params.a" }] }),
    search({ datasets: [{ dataset_digest: "d" }] }),
  ),
];

export const loggedModelCases: CaseGroup = { group: "logged-models", cases: [...single, ...searches] };
