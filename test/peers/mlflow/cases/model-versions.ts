import type { CaseGroup, MlflowCase, Step } from "../case";

const models = "mlflow/registered-models";
const versions = "mlflow/model-versions";
const createModel: Step = { method: "POST", path: `${models}/create`, body: { name: "<nonce>" } };
const getModel: Step = {
  method: "GET",
  path: `${models}/get`,
  query: { name: "<nonce>" },
  compare: { unordered: ["registered_model.latest_versions"] },
};
const create = (more: object = {}): Step => ({
  method: "POST",
  path: `${versions}/create`,
  body: { name: "<nonce>", source: "s3://bucket/<nonce>", ...more },
});
const get = (version = "1"): Step => ({ method: "GET", path: `${versions}/get`, query: { name: "<nonce>", version } });
const update = (body: object): Step => ({
  method: "PATCH",
  path: `${versions}/update`,
  body: { name: "<nonce>", version: "1", ...body },
});
const remove = (body: object): Step => ({
  method: "DELETE",
  path: `${versions}/delete`,
  body: { name: "<nonce>", version: "1", ...body },
});
const setTag = (body: object): Step => ({
  method: "POST",
  path: `${versions}/set-tag`,
  body: { name: "<nonce>", version: "1", ...body },
});
const deleteTag = (body: object): Step => ({
  method: "DELETE",
  path: `${versions}/delete-tag`,
  body: { name: "<nonce>", version: "1", ...body },
});
const uri = (version = "1"): Step => ({
  method: "GET",
  path: `${versions}/get-download-uri`,
  query: { name: "<nonce>", version },
});
const stage = (body: object, more: Partial<Step> = {}): Step => ({
  method: "POST",
  path: `${versions}/transition-stage`,
  body: { name: "<nonce>", version: "1", ...body },
  ...more,
});
const latest = (stages?: readonly string[], method: "GET" | "POST" = "GET"): Step => ({
  method,
  path: `${models}/get-latest-versions`,
  ...(method === "GET"
    ? { query: { name: "<nonce>", ...(stages ? { stages } : {}) } }
    : { body: { name: "<nonce>", ...(stages ? { stages } : {}) } }),
  compare: { unordered: ["model_versions"] },
});
const alias = (body: object): Step => ({ method: "POST", path: `${models}/alias`, body: { name: "<nonce>", ...body } });
const deleteAlias = (body: object): Step => ({
  method: "DELETE",
  path: `${models}/alias`,
  body: { name: "<nonce>", ...body },
});
const byAlias = (name: string): Step => ({
  method: "GET",
  path: `${models}/alias`,
  query: { name: "<nonce>", alias: name },
});
const search = (query: Step["query"], more: Partial<Step> = {}): Step => ({
  method: "GET",
  path: `${versions}/search`,
  query,
  ...more,
});
const makeRun: readonly Step[] = [
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
const makeLoggedModel: Step = {
  method: "POST",
  path: "mlflow/logged-models",
  body: { experiment_id: "<experiment>", name: "model", source_run_id: "<run>" },
  save: { logged: "model.info.model_id" },
  compare: { body: "error" },
};
const refused = { error_code: "PERMISSION_DENIED", message: "<message>" };
const invalid = { error_code: "INVALID_PARAMETER_VALUE", message: "<message>" };
const long = (length: number): string => "x".repeat(length);

const making: readonly MlflowCase[] = [
  { name: "of files elsewhere", steps: [createModel, create(), get(), create(), get("2"), getModel] },
  {
    name: "with all that there is to say",
    steps: [
      createModel,
      create({
        description: "what it is",
        run_link: "http://example.com/run",
        tags: [
          { key: "a", value: "1" },
          { key: "a", value: "2" },
          { key: "b", value: "" },
        ],
      }),
      get(),
      getModel,
    ],
  },
  {
    name: "of a run that is nowhere here",
    steps: [createModel, create({ run_id: "0123456789abcdef0123456789abcdef" }), get()],
  },
  {
    name: "of a run's files",
    steps: [
      createModel,
      ...makeRun,
      create({ source: "mlflow-artifacts:/<experiment>/<run>/artifacts/model", run_id: "<run>" }),
      get(),
      uri(),
      create({ source: "mlflow-artifacts:/<experiment>/<run>/artifacts/model" }),
      create({ source: "mlflow-artifacts:/<experiment>/other/artifacts/model", run_id: "<run>" }),
      create({ source: "mlflow-artifacts:/<experiment>/<run>/artifacts/../../x", run_id: "<run>" }),
      create({ source: "mlflow-artifacts:/<experiment>/<run>/artifacts/%2e%2e/%2e%2e/x", run_id: "<run>" }),
      create({ source: "runs:/<run>/model", run_id: "<run>" }),
      create({ source: "runs:/<run>/model" }),
      create({ source: "runs:/other/model", run_id: "<run>" }),
      create({ source: "runs://host/<run>/model", run_id: "<run>" }),
      create({ source: "http://host/api/2.0/mlflow-artifacts/artifacts/x", run_id: "<run>" }),
    ],
  },
  {
    name: "of a logged model",
    steps: [
      createModel,
      ...makeRun,
      makeLoggedModel,
      create({ source: "models:/<logged>", model_id: "<logged>" }),
      get(),
      uri(),
      create({ source: "models:/<logged>", model_id: "<logged>", run_id: "<run>" }),
      create({ source: "mlflow-artifacts:/<experiment>/models/<logged>/artifacts", model_id: "<logged>" }),
      uri("3"),
      create({ source: "models:/<logged>" }),
      create({ source: "models:/m-0123456789abcdef0123456789abcdef", model_id: "<logged>" }),
      create({ source: "mlflow-artifacts:/<experiment>/models/other/artifacts", model_id: "<logged>" }),
      create({ source: "runs:/<run>/model", model_id: "<logged>" }),
      { method: "GET", path: "mlflow/logged-models/<logged>", compare: { body: "error" } },
    ],
  },
  {
    name: "of another version",
    steps: [
      createModel,
      create({ run_id: "0123456789abcdef0123456789abcdef" }),
      create({ source: "models:/<nonce>/1" }),
      get("2"),
      uri("2"),
      alias({ alias: "best", version: "1" }),
      create({ source: "models:/<nonce>@best" }),
      create({ source: "models:/<nonce>/latest" }),
      stage({ stage: "Staging" }),
      create({ source: "models:/<nonce>/staging" }),
      uri("5"),
      create({ source: "models:/<nonce>/9" }),
      create({ source: "models:/<nonce>-no/1" }),
      create({ source: "models:/<nonce>@no" }),
      create({ source: "models:/<nonce>/1", run_id: "other" }),
      create({ source: "models:/<nonce>/1", run_id: "0123456789abcdef0123456789abcdef" }),
      create({ source: "models:/a/b/c" }),
      create({ source: "models:/" }),
      create({ source: "models://host/<nonce>/1" }),
    ],
  },
  {
    name: "of places on a disk",
    steps: [
      createModel,
      ...["/tmp/model", "file:///tmp/model", "model", "./model", "../model", "C:\\\\model"].map((source) =>
        create({ source }),
      ),
    ],
  },
  {
    name: "of places that climb",
    steps: [
      createModel,
      ...[
        "s3://bucket/../x",
        "s3://bucket/a/%2e%2e/x",
        "s3://bucket/a/%252e%252e/x",
        "https://host/a/../b",
        "dbfs:/../x",
        "s3://bucket/a%00b",
      ].map((source) => create({ source })),
    ],
  },
  {
    name: "of places of every kind",
    steps: [
      createModel,
      ...["s3://bucket/a/b", "gs://bucket/a", "dbfs:/a/b", "https://host/a", "abfss://c@h/a", "hdfs://host/a"].map(
        (source) => create({ source }),
      ),
    ],
  },
  {
    name: "that are wrong",
    steps: [
      create(),
      createModel,
      { method: "POST", path: `${versions}/create`, body: { name: "<nonce>" } },
      { method: "POST", path: `${versions}/create`, body: { source: "s3://a/b" } },
      create({ source: "" }),
      create({ source: 5 }),
      create({ tags: [{ key: "a#", value: "1" }] }),
      create({ tags: [{ key: long(251), value: "1" }] }),
      create({ tags: "x" }),
      create({ name: "a/b" }),
    ],
  },
  {
    name: "reads that are wrong",
    steps: [
      createModel,
      get(),
      create(),
      get("2"),
      get("x"),
      get("1.5"),
      get("-1"),
      get("0"),
      get(""),
      get("99999999999"),
      uri("7"),
      uri("x"),
    ],
  },
];

const files: readonly MlflowCase[] = [
  {
    name: "a version's file for a page",
    steps: [
      createModel,
      ...makeRun,
      makeLoggedModel,
      {
        method: "PUT",
        path: "mlflow-artifacts/artifacts/<experiment>/models/<logged>/artifacts/MLmodel",
        raw: "flavors",
      },
      { method: "PUT", path: "mlflow-artifacts/artifacts/<experiment>/<run>/artifacts/m/MLmodel", raw: "other" },
      create({ source: "models:/<logged>", model_id: "<logged>" }),
      create({ source: "mlflow-artifacts:/<experiment>/<run>/artifacts/m", run_id: "<run>" }),
      ...["1", "2", "3", "x"].map(
        (version): Step => ({
          method: "GET",
          path: "/model-versions/get-artifact",
          query: { name: "<nonce>", version, path: "MLmodel" },
        }),
      ),
      { method: "GET", path: "/model-versions/get-artifact", query: { name: "<nonce>", version: "1", path: "../x" } },
      { method: "GET", path: "/model-versions/get-artifact", query: { name: "<nonce>", version: "1", path: "no" } },
      ...["MLmodel", "no", "../x"].map(
        (artifact_file_path): Step => ({
          method: "GET",
          path: "/ajax-api/2.0/mlflow/logged-models/<logged>/artifacts/files",
          query: { artifact_file_path },
        }),
      ),
      { method: "GET", path: "/ajax-api/2.0/mlflow/logged-models/<logged>/artifacts/files" },
      {
        method: "GET",
        path: "/ajax-api/2.0/mlflow/logged-models/m-00000000000000000000000000000000/artifacts/files",
        query: { artifact_file_path: "MLmodel" },
      },
    ],
  },
];

const changing: readonly MlflowCase[] = [
  {
    name: "a description is changed",
    steps: [
      createModel,
      create(),
      update({ description: "one" }),
      get(),
      update({ description: "" }),
      get(),
      { ...update({}), ours: { why: "no description and an empty one are one", status: 200 } },
      { ...get(), ours: { why: "no description and an empty one are one", status: 200 } },
      update({ version: "2", description: "x" }),
      update({ version: "x" }),
    ],
  },
  {
    name: "tags are set and taken away",
    steps: [
      createModel,
      create(),
      setTag({ key: "a", value: "1" }),
      setTag({ key: "a", value: "2" }),
      setTag({ key: "b", value: "" }),
      get(),
      deleteTag({ key: "a" }),
      deleteTag({ key: "a" }),
      get(),
      setTag({ version: "2", key: "a", value: "1" }),
      deleteTag({ version: "2", key: "a" }),
      setTag({ key: "#", value: "1" }),
      setTag({ value: "1" }),
      setTag({ key: "a", value: long(100_001) }),
      deleteTag({}),
    ],
  },
  {
    name: "deleted, it is gone, and its number is not given again",
    steps: [
      createModel,
      create(),
      create(),
      alias({ alias: "a", version: "2" }),
      remove({ version: "2" }),
      get("2"),
      byAlias("a"),
      getModel,
      create(),
      getModel,
      remove({ version: "2" }),
      remove({ version: "9" }),
      remove({ version: "x" }),
    ],
  },
  {
    name: "a model is deleted with its versions",
    steps: [
      createModel,
      create(),
      { method: "DELETE", path: `${models}/delete`, body: { name: "<nonce>" } },
      get(),
      search({ filter: "name = '<nonce>'" }),
      createModel,
      get(),
      { ...create(), ours: { why: "a version's number never means two things: they go on", status: 200 } },
    ],
  },
];

const stages: readonly MlflowCase[] = [
  {
    name: "a stage is set",
    steps: [
      createModel,
      create(),
      stage({ stage: "Staging" }),
      get(),
      getModel,
      stage({ stage: "staging" }),
      stage({ stage: "Archived" }),
      stage({ stage: "None" }),
      get(),
    ],
  },
  {
    name: "who is in staging makes room",
    steps: [
      createModel,
      create(),
      create(),
      create(),
      stage({ stage: "Staging" }),
      stage({ version: "2", stage: "Staging" }),
      stage({ version: "3", stage: "Staging", archive_existing_versions: true }),
      get("1"),
      get("2"),
      get("3"),
      latest(),
    ],
  },
  {
    name: "production needs gates and approvals",
    steps: [
      createModel,
      create(),
      stage(
        { stage: "Production" },
        { ours: { why: "nothing serves that was not judged and approved", status: 403, body: refused } },
      ),
      { ...get(), ours: { why: "it has not moved", status: 200 } },
      stage(
        { stage: "production", archive_existing_versions: true },
        { ours: { why: "nothing serves that was not judged and approved", status: 403, body: refused } },
      ),
    ],
  },
  {
    name: "stages that are wrong",
    steps: [
      createModel,
      create(),
      stage({ stage: "Canary" }),
      stage({ stage: "" }),
      stage({}),
      stage({ stage: "Deleted_Internal" }),
      stage({ version: "2", stage: "Staging" }),
      stage({ version: "x", stage: "Staging" }),
      stage(
        { stage: "Archived", archive_existing_versions: true },
        { ours: { why: "MLflow answers 500", status: 400, body: invalid } },
      ),
    ],
  },
  {
    name: "the latest of each stage",
    steps: [
      createModel,
      latest(),
      create(),
      create(),
      create(),
      create(),
      stage({ version: "1", stage: "Staging" }),
      stage({ version: "2", stage: "Staging" }),
      stage({ version: "3", stage: "Archived" }),
      alias({ alias: "a", version: "2" }),
      latest(),
      latest(["Staging"]),
      latest(["staging", "None"]),
      latest(["Production"]),
      latest(["x"]),
      latest(undefined, "POST"),
      latest(["Archived"], "POST"),
      getModel,
      { method: "GET", path: `${models}/get-latest-versions`, query: { name: "<nonce>-no" } },
      { method: "GET", path: `${models}/get-latest-versions` },
    ],
  },
];

const aliases: readonly MlflowCase[] = [
  {
    name: "an alias is set, moved and taken away",
    steps: [
      createModel,
      create(),
      create(),
      alias({ alias: "best", version: "1" }),
      byAlias("best"),
      get("1"),
      getModel,
      alias({ alias: "best", version: "2" }),
      byAlias("best"),
      get("1"),
      alias({ alias: "worst", version: "2" }),
      get("2"),
      deleteAlias({ alias: "best" }),
      byAlias("best"),
      deleteAlias({ alias: "best" }),
      getModel,
    ],
  },
  {
    name: "the latest has an alias of its own",
    steps: [createModel, byAlias("latest"), create(), create(), byAlias("latest"), byAlias("LATEST")],
  },
  {
    name: "champion is a name as others are, before anything serves",
    steps: [
      createModel,
      create(),
      alias({ alias: "champion", version: "1" }),
      byAlias("champion"),
      deleteAlias({ alias: "champion" }),
    ],
  },
  {
    name: "aliases that are wrong",
    steps: [
      createModel,
      create(),
      alias({ alias: "latest", version: "1" }),
      alias({ alias: "Latest", version: "1" }),
      alias({ alias: "v1", version: "1" }),
      alias({ alias: "V12", version: "1" }),
      alias({ alias: "a b", version: "1" }),
      alias({ alias: "a.b", version: "1" }),
      alias({ alias: "", version: "1" }),
      alias({ version: "1" }),
      alias({ alias: "a" }),
      alias({ alias: long(256), version: "1" }),
      alias({ alias: long(255), version: "1" }),
      alias({ alias: "a", version: "2" }),
      alias({ alias: "a", version: "x" }),
      alias({ name: "<nonce>-no", alias: "a", version: "1" }),
      deleteAlias({ name: "<nonce>-no", alias: "a" }),
      deleteAlias({ alias: "a b" }),
      byAlias("no"),
      byAlias("a b"),
      byAlias("v1"),
      byAlias(""),
    ],
  },
];

const mine = "name = '<nonce>'";
const searching: readonly MlflowCase[] = [
  {
    name: "by attributes",
    steps: [
      createModel,
      create({ run_id: "<nonce>-1" }),
      create({ run_id: "<nonce>-2", source: "s3://bucket/other" }),
      create(),
      ...[
        mine,
        `${mine} AND version_number = 1`,
        `${mine} AND version_number = '1'`,
        `${mine} AND version_number > 1`,
        `${mine} AND version_number != 2`,
        `${mine} AND version_number <= 2`,
        "run_id = '<nonce>-1'",
        "run_id IN ('<nonce>-1', '<nonce>-2')",
        `${mine} AND run_id NOT IN ('<nonce>-1')`,
        `${mine} AND run_id LIKE '%-2'`,
        `${mine} AND source_path = 's3://bucket/other'`,
        `${mine} AND source_path LIKE '%OTHER'`,
        `${mine} AND source_path ILIKE '%OTHER'`,
        "name IN ('<nonce>', 'other')",
        "name LIKE '<nonce>%'",
        "name != 'other' AND name LIKE '<nonce>'",
      ].map((filter) => search({ filter, order_by: "version_number ASC" })),
    ],
  },
  {
    name: "by tags",
    steps: [
      createModel,
      create({
        tags: [
          { key: "a", value: "1" },
          { key: "b c", value: "2" },
        ],
      }),
      create({ tags: [{ key: "a", value: "2" }] }),
      create(),
      ...[
        "tags.a = '1'",
        "tags.a != '1'",
        "tags.a LIKE '%'",
        "tags.`b c` = '2'",
        "tag.a ILIKE '1'",
        "tags.no = '1'",
      ].map((filter) => search({ filter: `${filter} AND ${mine}`, order_by: "version_number ASC" })),
    ],
  },
  {
    name: "by order",
    steps: [
      createModel,
      create(),
      create(),
      create(),
      update({ version: "2", description: "x" }),
      search({ filter: mine }),
      search({ filter: mine, order_by: "version_number" }),
      search({ filter: mine, order_by: "version_number DESC" }),
      search({ filter: mine, order_by: "last_updated_timestamp ASC" }),
      search({ filter: mine, order_by: "creation_timestamp DESC" }),
      search({ filter: mine, order_by: ["name DESC", "version_number ASC"] }),
    ],
  },
  {
    name: "by pages",
    steps: [
      createModel,
      create(),
      create(),
      create(),
      search(
        { filter: mine, max_results: "2", order_by: "version_number ASC" },
        { save: { token: "next_page_token" } },
      ),
      search({ filter: mine, max_results: "2", order_by: "version_number ASC", page_token: "<token>" }),
      search({ filter: mine, page_token: "nonsense" }),
    ],
  },
  {
    name: "filters, orders and limits that are none",
    steps: [
      ...[
        "name",
        "version_number = 'x'",
        "version_number LIKE '1'",
        "version_number = 1.5",
        "version_number IN (1, 2)",
        "run_id > 'a'",
        "run_id = 5",
        "source_path IN ('a')",
        "current_stage = 'Staging'",
        "creation_timestamp > 5",
        "tags.a > '1'",
        "tags.a = 1",
        "name = 'a' OR name = 'b'",
        "params.a = '1'",
      ].map((filter) => search({ filter })),
      ...["run_id", "colour DESC", "tags.a", "version_number UP"].map((order_by) => search({ order_by })),
      ...["0", "-1", "200001", "x"].map((max_results) => search({ max_results })),
    ],
  },
];

export const modelVersionCases: CaseGroup = {
  group: "model-versions",
  cases: [...making, ...files, ...changing, ...stages, ...aliases, ...searching],
};
