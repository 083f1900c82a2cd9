import type { CaseGroup, MlflowCase, Step } from "../case";
import { get, headers, list, put, remove, root } from "./file-steps";

/** Ours cuts paths into their normal form, MLflow's keeps files on a disk, which does so too. */
const files: readonly MlflowCase[] = [
  {
    name: "what is put is got and listed",
    steps: [
      put("<nonce>/a/b.txt"),
      get("<nonce>/a/b.txt", { headers }),
      list("<nonce>"),
      list("<nonce>/a"),
      { method: "HEAD", path: `${root}/<nonce>/a/b.txt`, ours: { why: "MLflow answers HEAD with 405", status: 200 } },
    ],
  },
  {
    name: "the last put stands",
    steps: [put("<nonce>/f", "1"), put("<nonce>/f", "22"), get("<nonce>/f"), list("<nonce>")],
  },
  { name: "put again is put once", steps: [put("<nonce>/f"), put("<nonce>/f"), list("<nonce>")] },
  {
    name: "an empty file",
    steps: [put("<nonce>/empty.bin", ""), get("<nonce>/empty.bin", { headers }), list("<nonce>")],
  },
  {
    name: "kinds of files by their names",
    steps: [
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
    ],
  },
  {
    name: "names that are encoded",
    steps: [
      put("<nonce>/a%20b.txt"),
      get("<nonce>/a%20b.txt", { headers }),
      put("<nonce>/%C3%BC.txt"),
      get("<nonce>/%C3%BC.txt", { headers }),
      put("<nonce>/a%26b%3Dc.txt"),
      get("<nonce>/a%26b%3Dc.txt", { headers }),
      list("<nonce>"),
    ],
  },
  {
    name: "a name of letters that are not Latin",
    steps: [put("<nonce>/%E6%97%A5%E6%9C%AC.txt"), get("<nonce>/%E6%97%A5%E6%9C%AC.txt", { headers })],
  },
  { name: "a name in quotes", steps: [put("<nonce>/a%22b.txt"), get("<nonce>/a%22b.txt", { headers })] },
  {
    name: "parts that say nothing",
    steps: [
      { ...put("<nonce>//a///b.txt"), ours: { why: "MLflow answers 500", status: 200, body: "" } },
      { ...get("<nonce>/a/./b.txt"), ours: { why: "dots are refused as they come", status: 400 } },
      {
        ...get("<nonce>//a/b.txt"),
        ours: { why: "MLflow has it not, because of the 500", status: 200, body: "hello" },
      },
    ],
  },
  {
    name: "deep paths",
    steps: [put("<nonce>/1/2/3/4/5/6/7/8/9/f"), list("<nonce>/1/2/3/4"), get("<nonce>/1/2/3/4/5/6/7/8/9/f")],
  },
  {
    name: "order of a list",
    steps: [
      put("<nonce>/b"),
      put("<nonce>/a/x"),
      put("<nonce>/c.txt"),
      put("<nonce>/B"),
      put("<nonce>/a.txt"),
      list("<nonce>"),
    ],
  },
  { name: "what is not there", steps: [get("<nonce>/no.txt"), get("<nonce>"), list("<nonce>"), list("<nonce>/no")] },
  { name: "a list of a file is empty", steps: [put("<nonce>/f"), list("<nonce>/f")] },
  {
    name: "a directory is no file",
    steps: [
      put("<nonce>/d/f"),
      {
        ...get("<nonce>/d"),
        ours: {
          why: "MLflow answers {detail}",
          status: 400,
          body: "INVALID_PARAMETER_VALUE",
        },
      },
    ],
  },
  {
    name: "a file is removed",
    steps: [put("<nonce>/a"), put("<nonce>/b"), remove("<nonce>/a"), get("<nonce>/a"), list("<nonce>")],
  },
  {
    name: "a directory is removed with all in it",
    steps: [put("<nonce>/d/a"), put("<nonce>/d/e/b"), put("<nonce>/dd"), remove("<nonce>/d"), list("<nonce>")],
  },
  {
    name: "removing what is not there",
    steps: [remove("<nonce>/nothing"), put("<nonce>/a"), remove("<nonce>/a"), remove("<nonce>/a")],
  },
  {
    name: "a file needs a name",
    steps: [
      {
        ...put("<nonce>/d/"),
        ours: {
          why: "MLflow answers {detail}",
          status: 400,
          body: "INVALID_PARAMETER_VALUE",
        },
      },
    ],
  },
];

const redirected = (step: Step): Step => ({
  ...step,
  ours: {
    why: "MLflow's router redirects `//` to `/`",
    status: 400,
    body: "INVALID_PARAMETER_VALUE",
  },
});
const climbing = [
  "..",
  "a/../b",
  "%2e%2e/x",
  "a/%2e%2e/%2e%2e/x",
  "%252e%252e/x",
  "%2Fetc%2Fpasswd",
  "%252Fetc",
  "C:%5Cx",
  "C:/x",
  "a%23b",
  "file:/etc/passwd",
];
const paths: readonly MlflowCase[] = climbing.flatMap((path): MlflowCase[] => [
  { name: `${path} is not written`, steps: [put(path)] },
  { name: `${path} is not read`, steps: [get(path)] },
  { name: `${path} is not listed`, steps: [list(decodeURIComponent(path))] },
  { name: `${path} is not removed`, steps: [path === "%2Fetc%2Fpasswd" ? redirected(remove(path)) : remove(path)] },
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
  {
    name: "an upload in parts is begun and given up",
    steps: [
      {
        ...unsupported(
          { method: "POST", path: "mlflow-artifacts/mpu/create/<nonce>", body: { path: "f.bin", num_parts: 2 } },
          200,
        ),
      },
      unsupported(
        { method: "POST", path: "mlflow-artifacts/mpu/abort/<nonce>", body: { path: "f.bin", upload_id: "no" } },
        404,
      ),
    ],
  },
  {
    name: "an upload in parts that is wrong",
    steps: [
      { method: "POST", path: "mlflow-artifacts/mpu/create/<nonce>", body: { num_parts: 2 } },
      { method: "POST", path: "mlflow-artifacts/mpu/create/%2e%2e", body: { path: "f", num_parts: 2 } },
      { method: "POST", path: "mlflow-artifacts/mpu/create/<nonce>", body: { path: "f", num_parts: "x" } },
      { method: "POST", path: "mlflow-artifacts/mpu/complete/<nonce>", body: { path: "f", upload_id: "x" } },
      {
        method: "POST",
        path: "mlflow-artifacts/mpu/complete/<nonce>",
        body: { upload_id: "x", parts: [{ part_number: 1 }] },
      },
      { method: "POST", path: "mlflow-artifacts/mpu/abort/<nonce>", body: { upload_id: "x" } },
      { method: "POST", path: "mlflow-artifacts/mpu/abort/<nonce>", body: {} },
    ],
  },
  {
    name: "a URL for a file",
    steps: [
      put("<nonce>/f.txt"),
      unsupported({ method: "GET", path: "mlflow-artifacts/presigned/<nonce>/f.txt" }, 200),
      { method: "GET", path: "mlflow-artifacts/presigned/%2e%2e/x" },
      unsupported({ method: "GET", path: "mlflow-artifacts/presigned/<nonce>/no" }, 404),
    ],
  },
];

export const artifactCases: CaseGroup = { group: "artifacts", cases: [...files, ...paths, ...parts] };
