import type { CaseGroup, MlflowCase, Step } from "../case";
import {
  caseOf,
  experiment,
  get,
  getRun,
  madeRun,
  notOurs,
  onExperiment,
  onRun,
  post,
  refusedByUs,
  run,
} from "./steps";

const create = (body: object, more: Partial<Step> = madeRun): Step =>
  post(
    "runs/create",
    { experiment_id: "<experiment>", start_time: 1_700_000_000_000, run_name: "first", ...body },
    more,
  );
const update = (body: object): Step => post("runs/update", { run_id: "<run>", ...body });
const setTag = (key: unknown, value?: unknown): Step => post("runs/set-tag", { run_id: "<run>", key, value });
const deleteTag = (key: unknown): Step => post("runs/delete-tag", { run_id: "<run>", key });
const param = (key: unknown, value?: unknown): Step => post("runs/log-parameter", { run_id: "<run>", key, value });
const remove = post("runs/delete", { run_id: "<run>" });
const restore = post("runs/restore", { run_id: "<run>" });
/** Ours says who called where the request names nobody. */
const nobody: Partial<Step> = { ...madeRun, compare: { ignore: ["run.info.user_id"] } };

const creation: readonly MlflowCase[] = [
  onExperiment("create and get", run, getRun, get("runs/get", { run_uuid: "<run>" })),
  onExperiment(
    "with tags",
    create({
      user_id: "ada",
      tags: [
        { key: "mlflow.user", value: "ada" },
        { key: "mlflow.source.name", value: "train.py" },
        { key: "mlflow.source.type", value: "LOCAL" },
        { key: "mlflow.source.git.commit", value: "abc" },
        { key: "mlflow.note.content", value: "# hi" },
        { key: "own", value: "" },
      ],
    }),
    getRun,
  ),
  onExperiment(
    "named by its tag",
    create({ user_id: "a", run_name: undefined, tags: [{ key: "mlflow.runName", value: "tagged" }] }),
    getRun,
  ),
  onExperiment(
    "named twice alike",
    create({ user_id: "a", run_name: "x", tags: [{ key: "mlflow.runName", value: "x" }] }),
    getRun,
  ),
  onExperiment("named twice otherwise", create({ tags: [{ key: "mlflow.runName", value: "other" }] }, {})),
  onExperiment(
    "named by nobody",
    create(
      { user_id: "a", run_name: undefined },
      { ...madeRun, compare: { ignore: ["run.info.run_name", "run.data.tags"] } },
    ),
  ),
  onExperiment(
    "a child",
    create({ user_id: "a" }, madeRun),
    create(
      { user_id: "a", tags: [{ key: "mlflow.parentRunId", value: "<run>" }] },
      { save: { child: "run.info.run_id" } },
    ),
    get("runs/get", { run_id: "<child>" }),
  ),
  onExperiment("a child of a run that is nowhere here", {
    ...create({ user_id: "a", tags: [{ key: "mlflow.parentRunId", value: "0123456789abcdef0123456789abcdef" }] }, {}),
    ours: notOurs,
  }),
  onExperiment("by nobody", create({}, nobody)),
  onExperiment("times as texts", create({ user_id: "a", start_time: "1700000000001" }), getRun),
  caseOf("in an experiment of nowhere", post("runs/create", { experiment_id: "987654321", start_time: 1 })),
  caseOf(
    "in what is no experiment",
    post("runs/create", { experiment_id: "abc", start_time: 1 }),
    post("runs/create", { experiment_id: 5, start_time: 1 }),
  ),
  caseOf(
    "in the default experiment",
    post("runs/create", { experiment_id: "0", start_time: 1, user_id: "a", run_name: "a" }, madeRun),
  ),
  onExperiment(
    "a time that is none",
    create({ start_time: "soon" }, {}),
    refusedByUs(create({ start_time: 1.5 }, {}), "MLflow takes it for 0"),
  ),
];

const changes: readonly MlflowCase[] = [
  onRun(
    "every status",
    ...["SCHEDULED", "FAILED", "KILLED", "RUNNING", "FINISHED"].flatMap((status) => [update({ status }), getRun]),
  ),
  onRun("a status by its number", update({ status: 3 }), getRun),
  onRun(
    "a status that is none",
    refusedByUs(update({ status: "DONE" }), "MLflow leaves a name aside that it does not know"),
    update({ status: 9 }),
  ),
  onRun(
    "ended",
    update({ status: "FINISHED", end_time: 1_700_000_001_000 }),
    getRun,
    update({ status: "RUNNING" }),
    getRun,
  ),
  onRun("renamed", update({ run_name: "second" }), getRun, update({ run_name: "" }), getRun),
  onRun("renamed by its tag", setTag("mlflow.runName", "third"), getRun),
  onRun("nothing new", update({}), getRun),
  onRun("by its old id", post("runs/update", { run_uuid: "<run>", status: "FINISHED" }), getRun),
  onRun("deleted and restored", remove, getRun, remove, restore, getRun, restore),
  onRun(
    "a deleted run changes nothing",
    remove,
    update({ status: "FAILED" }),
    setTag("a", "1"),
    deleteTag("a"),
    param("a", "1"),
    post("runs/log-metric", { run_id: "<run>", key: "a", value: 1, timestamp: 1 }),
    post("runs/log-batch", { run_id: "<run>", tags: [{ key: "a", value: "1" }] }),
    post("runs/log-inputs", { run_id: "<run>", datasets: [] }),
    { ...post("runs/outputs", { run_id: "<run>", models: [{ model_id: "m", step: 0 }] }), ours: notOurs },
  ),
];

const tags: readonly MlflowCase[] = [
  onRun(
    "tags are set, set again, deleted",
    setTag("a", "1"),
    setTag("a", "2"),
    setTag("empty"),
    setTag("b", "3"),
    getRun,
    deleteTag("a"),
    getRun,
    deleteTag("a"),
  ),
  onRun(
    "notes",
    setTag("mlflow.note.content", "**bold**"),
    getRun,
    setTag("mlflow.note.content", "plain"),
    getRun,
    deleteTag("mlflow.note.content"),
    getRun,
  ),
  onRun("a parent", setTag("mlflow.parentRunId", "<run>"), getRun),
  onRun(
    "code",
    setTag("mlflow.source.git.commit", "c1"),
    setTag("mlflow.source.git.branch", "main"),
    setTag("mlflow.source.git.repoURL", "https://x/y"),
    setTag("mlflow.source.name", "t.py"),
    getRun,
    deleteTag("mlflow.source.git.commit"),
    getRun,
  ),
  onRun(
    "a tag of 8,000 characters; of more it is cut",
    setTag("a", "x".repeat(8000)),
    setTag("b", "x".repeat(8001)),
    getRun,
  ),
  onRun("a key of 250 characters, and of more", setTag("k".repeat(250), "1"), setTag("k".repeat(251), "1")),
  ...["a*b", "a\tb", "../a", "a//b", "/a", "a/", "."].map((key, i) =>
    onRun(`a key that is no name, ${i + 1}`, setTag(key, "1"), param(key, "1")),
  ),
  onRun(
    "keys that are",
    ...["a b", "a:b", "a-b_c.d/e", "schlüssel"].flatMap((key) => [setTag(key, "1"), param(key, "1")]),
    getRun,
  ),
  onRun(
    "without a key",
    setTag(undefined, "1"),
    setTag("", "1"),
    deleteTag(undefined),
    param(undefined, "1"),
    param("", "1"),
  ),
  onRun("values that are no texts", setTag("a", 1), param("a", 1), setTag("a", ["x"]), setTag(1, "x")),
];

const params: readonly MlflowCase[] = [
  onRun("params are kept", param("lr", "0.1"), param("depth", "3"), param("empty", ""), param("none"), getRun),
  onRun("a param is written once", param("lr", "0.1"), param("lr", "0.1"), param("lr", "0.2"), getRun),
  onRun(
    "a param of 6,000 characters; of more it is cut",
    param("a", "x".repeat(6000)),
    param("b", "x".repeat(6001)),
    getRun,
    param("b", "x".repeat(6001)),
  ),
  onRun("a param's key of 250 characters, and of more", param("k".repeat(250), "1"), param("k".repeat(251), "1")),
  onRun("keys are distinguished by case", param("a", "1"), param("A", "2"), getRun),
];

const inputs = (datasets: unknown, more: object = {}): Step =>
  post("runs/log-inputs", { run_id: "<run>", datasets, ...more });
const dataset = (name: string, digest: string, more: object = {}) => ({
  name,
  digest,
  source_type: "local",
  source: "/tmp/x",
  ...more,
});
const io: readonly MlflowCase[] = [
  onRun(
    "datasets",
    inputs([
      {
        tags: [{ key: "mlflow.data.context", value: "training" }],
        dataset: dataset("digits", "d1", { schema: "{}", profile: '{"rows":3}' }),
      },
    ]),
    getRun,
  ),
  onRun(
    "of a dataset that comes twice the first stands",
    inputs([
      { tags: [], dataset: dataset("digits", "d1") },
      { tags: [{ key: "a", value: "1" }], dataset: dataset("digits", "d1") },
    ]),
    inputs([
      { tags: [{ key: "b", value: "2" }], dataset: dataset("digits", "d1") },
      { dataset: dataset("digits", "d2") },
    ]),
    { ...getRun, compare: { unordered: ["run.inputs.dataset_inputs"] } },
  ),
  onRun(
    "datasets that are none",
    inputs([{ dataset: dataset("n".repeat(501), "d") }]),
    inputs([{ dataset: dataset("n", "d".repeat(37)) }]),
    inputs([{ dataset: dataset("n", "d", { source: "s".repeat(65_536) }) }]),
    inputs([{ tags: [{ key: "k".repeat(256), value: "1" }], dataset: dataset("n", "d") }]),
    inputs([{ tags: [{ key: "k", value: "v".repeat(501) }], dataset: dataset("n", "d") }]),
    inputs({}),
    inputs("x"),
  ),
  onRun("nothing", inputs([]), inputs(undefined), getRun),
  onRun(
    "logged models",
    post(
      "logged-models",
      { experiment_id: "<experiment>", name: "m" },
      { save: { model: "model.info.model_id" }, compare: { body: "error" } },
    ),
    inputs(undefined, { models: [{ model_id: "<model>" }] }),
    post("runs/outputs", { run_id: "<run>", models: [{ model_id: "<model>", step: 3 }] }),
    getRun,
  ),
  onRun(
    "outputs of none",
    post("runs/outputs", { run_id: "<run>" }),
    post("runs/outputs", { run_id: "<run>", models: "x" }),
  ),
  caseOf(
    "of a run of nowhere",
    post("runs/log-inputs", { run_id: "00000000000000000000000000000000", datasets: [] }),
    post("runs/outputs", { run_id: "00000000000000000000000000000000", models: [{ model_id: "m" }] }),
  ),
  onRun(
    "models as they were logged once",
    post("runs/log-model", {
      run_id: "<run>",
      model_json: JSON.stringify({
        artifact_path: "m",
        flavors: { f: {} },
        utc_time_created: "2026-01-01 00:00:00",
        run_id: "r",
        model_uuid: "u",
      }),
    }),
  ),
  onRun(
    "models that are none",
    post("runs/log-model", { run_id: "<run>", model_json: "{" }),
    post("runs/log-model", { run_id: "<run>", model_json: "{}" }),
    post("runs/log-model", { run_id: "<run>" }),
  ),
];

const nowhere = "00000000000000000000000000000000";
const refusals: readonly MlflowCase[] = [
  caseOf(
    "of nowhere",
    get("runs/get", { run_id: nowhere }),
    post("runs/update", { run_id: nowhere, status: "FAILED" }),
    post("runs/delete", { run_id: nowhere }),
    post("runs/restore", { run_id: nowhere }),
    post("runs/set-tag", { run_id: nowhere, key: "a", value: "1" }),
    post("runs/delete-tag", { run_id: nowhere, key: "a" }),
    post("runs/log-parameter", { run_id: nowhere, key: "a", value: "1" }),
    post("runs/log-metric", { run_id: nowhere, key: "a", value: 1, timestamp: 1 }),
    post("runs/log-batch", { run_id: nowhere, tags: [{ key: "a", value: "1" }] }),
    get("metrics/get-history", { run_id: nowhere, metric_key: "a" }),
  ),
  caseOf(
    "without an id",
    get("runs/get", {}),
    ...[
      "update",
      "delete",
      "restore",
      "set-tag",
      "delete-tag",
      "log-parameter",
      "log-metric",
      "log-batch",
      "log-inputs",
      "outputs",
      "log-model",
    ].map((verb) => post(`runs/${verb}`, { key: "a", value: "1" })),
  ),
  caseOf(
    "ids that are none",
    post("runs/log-batch", { run_id: "a b" }),
    post("runs/log-batch", { run_id: "../x" }),
    get("runs/get", { run_id: "a b" }),
  ),
  caseOf(
    "spelt otherwise",
    experiment,
    run,
    post("runs/update", { run_id: "<run>", endTime: 1_700_000_002_000, runName: "camel" }),
    getRun,
    post("runs/update", { run_id: "<run>", end_time: 1, endTime: 2 }),
    post("runs/update", { runId: "<run>" }),
  ),
];

export const runCases: CaseGroup = {
  group: "runs",
  cases: [...creation, ...changes, ...tags, ...params, ...io, ...refusals],
};
