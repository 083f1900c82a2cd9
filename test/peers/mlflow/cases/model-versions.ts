import type { CaseGroup, MlflowCase, Step } from "../case";
import { notOurs } from "./steps";
import {
  alias,
  create,
  createModel,
  deleteTag,
  get,
  getModel,
  long,
  makeLoggedModel,
  makeRun,
  remove,
  setTag,
  stage,
  update,
  uri,
  versions,
} from "./version-steps";

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
    steps: [
      createModel,
      {
        ...create({ run_id: "0123456789abcdef0123456789abcdef" }),
        ours: notOurs,
      },
    ],
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
    name: "of places without a path",
    steps: [
      createModel,
      ...["s3://bucket", "s3://bucket/", "uc://x", "a:b", "mlflow-artifacts:relative", "mlflow-artifacts:"].map(
        (source): Step => ({ ...create({ source }), says: "If supplying a source as an http, https," }),
      ),
      create({ source: "s3://bucket//a//" }),
    ],
  },
  {
    name: "of a model that is not there",
    steps: [
      create(),
      get(),
      uri(),
      ...[
        update({ description: "x" }),
        remove({}),
        setTag({ key: "a", value: "b" }),
        deleteTag({ key: "a" }),
        stage({ stage: "Staging" }),
        alias({ alias: "a", version: "1" }),
      ].map((step): Step => ({ ...step, says: "not found" })),
    ],
  },
  {
    name: "a logged model says what it became",
    steps: [
      createModel,
      {
        method: "POST",
        path: "mlflow/logged-models",
        body: { experiment_id: "0", name: "m" },
        save: { model: "model.info.model_id" },
        compare: { body: "error" },
      },
      create({ source: "models:/<model>", model_id: "<model>" }),
      create({ source: "models:/<model>", model_id: "<model>" }),
      create({ source: "models:/<nonce>/1" }),
      { method: "GET", path: "mlflow/logged-models/<model>", compare: { ignore: ["model.info.artifact_uri"] } },
    ],
  },
  {
    name: "of another version",
    steps: [
      createModel,
      ...makeRun,
      create({ run_id: "<run>" }),
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
      create({ source: "models:/<nonce>/1", run_id: "<run>" }),
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

/** Creation of versions, and their sources. */
export const modelVersionCases: CaseGroup = {
  group: "model-versions",
  cases: [...making, ...files],
};
