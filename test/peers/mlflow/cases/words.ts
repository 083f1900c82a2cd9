import type { CaseGroup, MlflowCase, Step } from "../case";
import { getRun, notOurs, onExperiment, onRun, post } from "./steps";

/** A step that is refused with a phrase that MLflow's own client tests read. */
const saying = (says: string, step: Step): Step => ({ ...step, says });
const setTag = (key: string, value: string): Step => post("runs/set-tag", { run_id: "<run>", key, value });
const deleteTag = (key: string): Step => post("runs/delete-tag", { run_id: "<run>", key });
const search = (filter: string): Step =>
  post("runs/search", { experiment_ids: ["<experiment>"], filter }, { compare: { ignore: ["runs.*.info.end_time"] } });
const batch = (members: object): Step => post("runs/log-batch", { run_id: "<run>", ...members });
const params = (...pairs: readonly (readonly [string, string])[]): Step =>
  batch({ params: pairs.map(([key, value]) => ({ key, value })) });

const loggedModel = (name: string): Step =>
  post("logged-models", { experiment_id: "<experiment>", name }, { save: { [name]: "model.info.model_id" } });
const accuracyOf = (model: string, value: number, timestamp: number, digest: string): Step =>
  post("runs/log-metric", {
    ...{ run_id: "<run>", key: "acc", value, timestamp, step: 0 },
    ...{ model_id: model, dataset_name: `data-${digest}`, dataset_digest: digest },
  });

const modelCases: readonly MlflowCase[] = [
  onRun(
    "logged models in the order of a metric on data of one digest",
    loggedModel("one"),
    loggedModel("two"),
    accuracyOf("<one>", 0.9, 1, "d1"),
    accuracyOf("<one>", 0.8, 2, "d2"),
    accuracyOf("<two>", 0.8, 3, "d1"),
    accuracyOf("<two>", 0.9, 4, "d2"),
    ...["d1", "d2"].map((dataset_digest) =>
      post("logged-models/search", {
        experiment_ids: ["<experiment>"],
        order_by: [{ field_name: "metrics.acc", dataset_digest }],
      }),
    ),
  ),
];

/** Tags that are members of the record here. */
const memberTags: readonly MlflowCase[] = [
  ...["source.git.commit", "note.content"].map((name) =>
    onRun(
      `mlflow.${name} is set, found and taken away`,
      setTag(`mlflow.${name}`, "x"),
      getRun,
      search(`tags.\`mlflow.${name}\` = 'x'`),
      search(`tags.mlflow.${name} LIKE 'y%'`),
      setTag(`mlflow.${name}`, ""),
      getRun,
      deleteTag(`mlflow.${name}`),
      getRun,
      deleteTag(`mlflow.${name}`),
    ),
  ),
  onRun(
    "a parent that is none",
    { ...setTag("mlflow.parentRunId", "7"), ours: notOurs },
    setTag("mlflow.parentRunId", ""),
    getRun,
    { ...setTag("mlflow.parentRunId", "y".repeat(300)), ours: notOurs },
    setTag("mlflow.parentRunId", "<run>"),
    search("tags.mlflow.parentRunId = '<run>'"),
    deleteTag("mlflow.parentRunId"),
    getRun,
  ),
];

const changing = "Changing param values is not allowed";

const refusals: readonly MlflowCase[] = [
  onRun(
    "params that would change",
    post("runs/log-parameter", { run_id: "<run>", key: "a", value: "1" }),
    saying(changing, post("runs/log-parameter", { run_id: "<run>", key: "a", value: "2" })),
    saying(changing, params(["a", "2"], ["b", "3"])),
    saying("Duplicate parameter keys have been submitted", params(["d", "1"], ["d", "2"])),
    getRun,
  ),
  onRun(
    "what is not there, and who is deleted",
    saying("not found", post("runs/delete-tag", { run_id: "<nonce>", key: "a" })),
    saying("No tag with name: a", deleteTag("a")),
    post("runs/delete", { run_id: "<run>" }),
    ...[deleteTag("a"), setTag("a", "1"), params(["a", "1"]), batch({})].map((step) =>
      saying("must be in the 'active' state", step),
    ),
  ),
  onExperiment(
    "a filter of experiments",
    ...["name = 5", "params.x = 'a'", "name IS NULL", "name = 'a' OR name = 'b'"].map((filter) =>
      post("experiments/search", { max_results: 5, filter }),
    ),
    ...[0, 50_001].map((max_results) =>
      saying(
        `Invalid value ${max_results} for parameter 'max_results' supplied`,
        post("experiments/search", { max_results }),
      ),
    ),
  ),
  onExperiment(
    "a page of another query",
    ...["a", "b", "c"].map((name) =>
      post(
        "logged-models",
        { experiment_id: "<experiment>", name },
        {
          compare: { ignore: ["model.info.model_id"] },
        },
      ),
    ),
    post(
      "logged-models/search",
      { experiment_ids: ["<experiment>"], max_results: 1 },
      { save: { token: "next_page_token" } },
    ),
    post("logged-models/search", { experiment_ids: ["<experiment>"], max_results: 1, page_token: "<token>" }),
    post("logged-models/search", { experiment_ids: ["<experiment>", "0"], page_token: "<token>" }),
    post("logged-models/search", { experiment_ids: ["<experiment>"], filter: "name = 'a'", page_token: "<token>" }),
    post("logged-models/search", {
      experiment_ids: ["<experiment>"],
      order_by: [{ field_name: "name" }],
      page_token: "<token>",
    }),
  ),
];

export const wordCases: CaseGroup = { group: "words", cases: [...memberTags, ...modelCases, ...refusals] };
