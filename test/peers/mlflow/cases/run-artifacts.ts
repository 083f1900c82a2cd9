import type { CaseGroup, MlflowCase, Step } from "../case";
import { get, headers, list, put, remove } from "./file-steps";
import { caseOf, send } from "./steps";

/** A run in an experiment of its own, as `<run>` and `<experiment>`. */
const makeRun: readonly Step[] = [
  send("POST", "mlflow/experiments/create", { name: "<nonce>" }, { save: { experiment: "experiment_id" } }),
  send(
    "POST",
    "mlflow/runs/create",
    { experiment_id: "<experiment>", start_time: 1, run_name: "r" },
    { save: { run: "run.info.run_id" }, compare: { body: "error" } },
  ),
];
const runRoot = "<experiment>/<run>/artifacts";
const listOfRun = (query: Step["query"]): Step => ({ method: "GET", path: "mlflow/artifacts/list", query });

const runs: readonly MlflowCase[] = [
  caseOf(
    "a run's files",
    ...makeRun,
    listOfRun({ run_id: "<run>" }),
    put(`${runRoot}/model/MLmodel`),
    put(`${runRoot}/notes.txt`),
    listOfRun({ run_id: "<run>" }),
    listOfRun({ run_id: "<run>", path: "model" }),
    listOfRun({ run_id: "<run>", path: "notes.txt" }),
    listOfRun({ run_id: "<run>", path: "no" }),
    listOfRun({ run_uuid: "<run>" }),
    list(runRoot),
    get(`${runRoot}/model/MLmodel`),
    remove(`${runRoot}/model`),
    listOfRun({ run_id: "<run>" }),
  ),
  caseOf(
    "lists of runs that are none",
    listOfRun({ run_id: "00000000000000000000000000000000" }),
    listOfRun({}),
    listOfRun({ run_id: "" }),
  ),
  caseOf(
    "a run's paths",
    ...makeRun,
    ...["..", "a/../../b", "%2e%2e", "/etc"].map((path) => listOfRun({ run_id: "<run>", path })),
  ),
  caseOf(
    "a run in an experiment with a location of its own",
    send(
      "POST",
      "mlflow/experiments/create",
      { name: "<nonce>", artifact_location: "mlflow-artifacts:/custom/<nonce>" },
      { save: { experiment: "experiment_id" } },
    ),
    send(
      "POST",
      "mlflow/runs/create",
      { experiment_id: "<experiment>", start_time: 1, run_name: "r" },
      { save: { run: "run.info.run_id" }, compare: { body: "error" } },
    ),
    put("custom/<nonce>/<run>/artifacts/f.txt"),
    listOfRun({ run_id: "<run>" }),
    list("custom/<nonce>"),
    list("custom/<nonce>/<run>"),
  ),
  caseOf(
    "folders that lead to runs and models",
    ...makeRun,
    list("<experiment>"),
    put(`${runRoot}/d/f.txt`),
    put(`${runRoot}/g.txt`),
    put("<experiment>/notes.txt"),
    list("<experiment>"),
    list("<experiment>/<run>"),
    send(
      "POST",
      "mlflow/logged-models",
      { experiment_id: "<experiment>", name: "m" },
      { save: { model: "model.info.model_id" }, compare: { body: "error" } },
    ),
    put("<experiment>/models/<model>/artifacts/MLmodel"),
    list("<experiment>"),
    list("<experiment>/models"),
    list("<experiment>/models/<model>"),
    remove("<experiment>/<run>"),
    list("<experiment>"),
    listOfRun({ run_id: "<run>" }),
    get(`${runRoot}/g.txt`),
    remove("<experiment>"),
    list("<experiment>"),
    get("<experiment>/models/<model>/artifacts/MLmodel"),
  ),
  caseOf("the root is not deleted", {
    ...remove(""),
    ours: {
      why: "MLflow answers a page",
      status: 404,
      body: "ENDPOINT_NOT_FOUND",
    },
  }),
  caseOf(
    "presigned URLs are for locations in the bucket",
    ...makeRun,
    ...[
      { run_id: "<run>", path: "f" },
      { path: "f" },
      { run_id: "<run>", model_id: "m", path: "f" },
      { run_id: "<run>" },
      { run_id: "<run>", path: "../f" },
      { run_id: "no", path: "f" },
    ].map((body): Step => ({ method: "POST", path: "mlflow/artifacts/presigned-upload-url", body })),
    ...[
      { run_id: "<run>", path: "f" },
      { path: "f" },
      { run_id: "<run>", path: "f", expiration: 0 },
      { run_id: "no", path: "f" },
    ].map((body): Step => ({ method: "POST", path: "mlflow/artifacts/presigned-download-url", body })),
  ),
  caseOf(
    "a small file from a page",
    ...makeRun,
    ...(
      [
        { query: { run_uuid: "<run>", path: "d/f.txt" }, raw: "content" },
        { query: { run_uuid: "<run>", path: "d/f.txt" }, raw: "" },
        { query: { run_uuid: "<run>" }, raw: "x" },
        { query: { path: "f" }, raw: "x" },
        { query: { run_uuid: "<run>", path: "../f" }, raw: "x" },
        { query: { run_uuid: "no", path: "f" }, raw: "x" },
      ] as readonly Pick<Step, "query" | "raw">[]
    ).map(
      (sent): Step => ({
        method: "POST",
        path: "/ajax-api/2.0/mlflow/upload-artifact",
        ...sent,
        compare: { body: "error" },
      }),
    ),
    listOfRun({ run_id: "<run>", path: "d" }),
    get(`${runRoot}/d/f.txt`),
  ),
  caseOf(
    "a file for a page",
    ...makeRun,
    put(`${runRoot}/d/f.html`, "html"),
    ...(
      [
        { run_id: "<run>", path: "d/f.html" },
        { run_uuid: "<run>", path: "d/f.html" },
        { run_id: "<run>", path: "no" },
        { run_id: "<run>", path: "../x" },
        { run_id: "no", path: "x" },
      ] as readonly NonNullable<Step["query"]>[]
    ).map(
      (query): Step => ({ method: "GET", path: "/get-artifact", query, compare: { headers: headers.slice(0, 2) } }),
    ),
  ),
];

export const runArtifactCases: CaseGroup = { group: "run-artifacts", cases: runs };
