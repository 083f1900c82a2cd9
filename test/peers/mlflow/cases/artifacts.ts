import type { CaseGroup, MlflowCase, Step } from "../case";
import { get, headers, list, put, remove, root } from "./file-steps";
import { caseOf, send } from "./steps";

/** Ours cuts paths into their normal form, MLflow's keeps files on a disk, which does so too. */
const files: readonly MlflowCase[] = [
  caseOf(
    "what is put is got and listed",
    put("<nonce>/a/b.txt"),
    get("<nonce>/a/b.txt", { headers }),
    list("<nonce>"),
    list("<nonce>/a"),
    { method: "HEAD", path: `${root}/<nonce>/a/b.txt`, ours: { why: "MLflow answers HEAD with 405", status: 200 } },
  ),
  caseOf("the last put stands", put("<nonce>/f", "1"), put("<nonce>/f", "22"), get("<nonce>/f"), list("<nonce>")),
  caseOf("put again is put once", put("<nonce>/f"), put("<nonce>/f"), list("<nonce>")),
  caseOf("an empty file", put("<nonce>/empty.bin", ""), get("<nonce>/empty.bin", { headers }), list("<nonce>")),
  caseOf(
    "kinds of files by their names",
    ...[
      "m.pkl",
      "MLmodel",
      "conda.yaml",
      "x.png",
      "x.html",
      "x.json",
      "x.csv",
      "x.zip",
      "x.tar.gz",
      "x.svg",
      "README",
    ].flatMap((name): Step[] => [put(`<nonce>/${name}`), get(`<nonce>/${name}`, { headers })]),
  ),
  caseOf(
    "names that are encoded",
    put("<nonce>/a%20b.txt"),
    get("<nonce>/a%20b.txt", { headers }),
    put("<nonce>/%C3%BC.txt"),
    get("<nonce>/%C3%BC.txt", { headers }),
    put("<nonce>/a%26b%3Dc.txt"),
    get("<nonce>/a%26b%3Dc.txt", { headers }),
    list("<nonce>"),
  ),
  caseOf(
    "a name of letters that are not Latin",
    put("<nonce>/%E6%97%A5%E6%9C%AC.txt"),
    get("<nonce>/%E6%97%A5%E6%9C%AC.txt", { headers }),
  ),
  caseOf("a name in quotes", put("<nonce>/a%22b.txt"), get("<nonce>/a%22b.txt", { headers })),
  caseOf(
    "parts that say nothing",
    { ...put("<nonce>//a///b.txt"), ours: { why: "MLflow answers 500", status: 200, body: "" } },
    { ...get("<nonce>/a/./b.txt"), ours: { why: "dots are refused as they come", status: 400 } },
    {
      ...get("<nonce>//a/b.txt"),
      ours: { why: "MLflow has it not, because of the 500", status: 200, body: "hello" },
    },
  ),
  caseOf("deep paths", put("<nonce>/1/2/3/4/5/6/7/8/9/f"), list("<nonce>/1/2/3/4"), get("<nonce>/1/2/3/4/5/6/7/8/9/f")),
  caseOf(
    "order of a list",
    put("<nonce>/b"),
    put("<nonce>/a/x"),
    put("<nonce>/c.txt"),
    put("<nonce>/B"),
    put("<nonce>/a.txt"),
    list("<nonce>"),
  ),
  caseOf("what is not there", get("<nonce>/no.txt"), get("<nonce>"), list("<nonce>"), list("<nonce>/no")),
  caseOf("a list of a file is empty", put("<nonce>/f"), list("<nonce>/f")),
  caseOf("a directory is no file", put("<nonce>/d/f"), {
    ...get("<nonce>/d"),
    ours: {
      why: "MLflow answers {detail}",
      status: 400,
      body: "INVALID_PARAMETER_VALUE",
    },
  }),
  caseOf(
    "a file is removed",
    put("<nonce>/a"),
    put("<nonce>/b"),
    remove("<nonce>/a"),
    get("<nonce>/a"),
    list("<nonce>"),
  ),
  caseOf(
    "a directory is removed with all in it",
    put("<nonce>/d/a"),
    put("<nonce>/d/e/b"),
    put("<nonce>/dd"),
    remove("<nonce>/d"),
    list("<nonce>"),
  ),
  caseOf(
    "removing what is not there",
    remove("<nonce>/nothing"),
    put("<nonce>/a"),
    remove("<nonce>/a"),
    remove("<nonce>/a"),
  ),
  caseOf("a file needs a name", {
    ...put("<nonce>/d/"),
    ours: {
      why: "MLflow answers {detail}",
      status: 400,
      body: "INVALID_PARAMETER_VALUE",
    },
  }),
];

const redirected = (step: Step): Step => ({
  ...step,
  ours: {
    why: "MLflow's router redirects `//` to `/`",
    status: 400,
    body: "INVALID_PARAMETER_VALUE",
  },
});
const climbing = ["..", "a/../b", "%2e%2e/x", "%252e%252e/x", "%2Fetc%2Fpasswd", "C:%5Cx", "a%23b", "file:/etc/passwd"];
const paths: readonly MlflowCase[] = climbing.flatMap((path): MlflowCase[] => [
  caseOf(`${path} is not written`, put(path)),
  caseOf(`${path} is not read`, get(path)),
  caseOf(`${path} is not listed`, list(decodeURIComponent(path))),
  caseOf(`${path} is not removed`, path === "%2Fetc%2Fpasswd" ? redirected(remove(path)) : remove(path)),
]);

const unsupported = (step: Omit<Step, "ours">, status: number, body?: unknown): Step => ({
  ...step,
  ours: {
    why: "MLflow's server keeps files on a disk here, which knows no parts; ours does by the store",
    status,
    body,
  },
});
const parts: readonly MlflowCase[] = [
  caseOf(
    "an upload in parts is begun and given up",
    {
      ...unsupported(send("POST", "mlflow-artifacts/mpu/create/<nonce>", { path: "f.bin", num_parts: 2 }), 200),
    },
    unsupported(send("POST", "mlflow-artifacts/mpu/abort/<nonce>", { path: "f.bin", upload_id: "no" }), 404),
  ),
  caseOf(
    "an upload in parts that is wrong",
    send("POST", "mlflow-artifacts/mpu/create/<nonce>", { num_parts: 2 }),
    send("POST", "mlflow-artifacts/mpu/create/%2e%2e", { path: "f", num_parts: 2 }),
    send("POST", "mlflow-artifacts/mpu/create/<nonce>", { path: "f", num_parts: "x" }),
    send("POST", "mlflow-artifacts/mpu/complete/<nonce>", { path: "f", upload_id: "x" }),
    send("POST", "mlflow-artifacts/mpu/complete/<nonce>", { upload_id: "x", parts: [{ part_number: 1 }] }),
    send("POST", "mlflow-artifacts/mpu/abort/<nonce>", { upload_id: "x" }),
    send("POST", "mlflow-artifacts/mpu/abort/<nonce>", {}),
  ),
  caseOf(
    "a URL for a file",
    put("<nonce>/f.txt"),
    unsupported({ method: "GET", path: "mlflow-artifacts/presigned/<nonce>/f.txt" }, 200),
    { method: "GET", path: "mlflow-artifacts/presigned/%2e%2e/x" },
    unsupported({ method: "GET", path: "mlflow-artifacts/presigned/<nonce>/no" }, 404),
  ),
];

export const artifactCases: CaseGroup = { group: "artifacts", cases: [...files, ...paths, ...parts] };
