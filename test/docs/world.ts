import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ensureBuild } from "../../scripts/build.js";
import { root } from "./markdown";
import { type CommandResult, runInShell } from "./shell";

export interface WorldIds {
  readonly api: string;
  readonly endpoint: string;
  readonly runs: readonly string[];
}

/** The name of the Python that has MLflow, where there is one. */
export const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
export const hasAws = spawnSync("aws", ["--version"]).status === 0;
export const hasMlflow = spawnSync(python, ["-c", "import mlflow, onnxruntime"]).status === 0;

const tinyJob = `experiment: digits
registerAs: digits
dataset: digits
model: { type: mlp, hidden: [8] }
hyperparameters: { batchSize: 32, epochs: 5, learningRate: 0.001 }
resources: { workers: 1, backend: wasm }
checkpoint: { keep: 5 }
evaluation: { thresholds: { accuracy: 0 }, slices: [stroke] }
seed: 1
`;
const study = `name: digits-tuning
job: plain.yaml
objective: { metric: validation/loss, direction: minimize }
space:
  hyperparameters.learningRate: { type: float, low: 0.0001, high: 0.1, log: true }
sampler: { type: random }
parallel: 2
stop: { trials: 2 }
`;
const policy = `rules:
  thresholds: { accuracy: 0.5 }
`;
const open = `rules:
  thresholds: { accuracy: 0 }
`;
const reviewed = `rules:
  checks: [{ name: review, kind: command, command: [./review.sh] }]
`;

/**
 * A stack over a copy of what a reader has: the examples, small enough for a test, and the files that pages name. The
 * default team's model \`digits\` has five versions, the third of which is in production.
 */
export class World {
  readonly directory = mkdtempSync(join(tmpdir(), "ringmaster-docs-"));
  private readonly programs = join(this.directory, ".programs");
  private ids?: WorldIds;
  private exports: NodeJS.ProcessEnv = {};

  get known(): WorldIds {
    if (!this.ids) throw new Error("the world is not there yet");
    return this.ids;
  }

  run(commands: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<readonly CommandResult[]> {
    return runInShell(commands, { cwd: this.directory, env: { ...this.environment(), ...env } });
  }

  /** Runs preparations: one that fails is an error. */
  async prepare(commands: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
    const results = await this.run(commands, env);
    results.forEach(({ code, output }, i) => {
      if (code !== 0) throw new Error(`${commands[i]} ended with ${code}: ${output}`);
    });
    return results.map(({ output }) => output);
  }

  private environment(): NodeJS.ProcessEnv {
    const { RINGMASTER_API_URL: _api, RINGMASTER_TEAM: _team, RINGMASTER_TOKEN: _token, ...rest } = process.env;
    return {
      ...rest,
      ...this.exports,
      PATH: `${this.programs}${delimiter}${process.env["PATH"]}`,
      NO_COLOR: "1",
      MLFLOW_DISABLE_TELEMETRY: "true",
      MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR: "false",
      DO_NOT_TRACK: "true",
    };
  }

  async start(): Promise<void> {
    this.writePrograms();
    this.writeFiles();
    const [up] = await this.prepare(["ringmaster --json up --detach --port 0 --api-port 0"]);
    const { api, endpoint } = JSON.parse(up!) as { readonly api: string; readonly endpoint: string };
    const [exported] = await this.prepare(["ringmaster env"]);
    for (const [, name, value] of exported!.matchAll(/^export (\w+)=(.*)$/gm))
      this.exports[name!] = value!.replaceAll(/^['"]|['"]$/g, "");
    Object.assign(this.exports, { API: api, MLFLOW_TRACKING_URI: api });
    await this.registerByMlflow(api);
    await this.prepare([
      "node examples/digits/prepare.js digits.parquet 300",
      "node examples/digits/prepare.js march.parquet 240",
      "node .programs/files.js",
      "ringmaster datasets push digits --file digits.parquet --schema examples/digits/schema.yaml",
      "ringmaster datasets push digits --file march.csv --schema examples/digits/schema.yaml",
    ]);
    await this.train([1, 2, 3]);
    await this.prepare(["ringmaster models approve digits 3 --wait"]);
    await this.train([4, 5]);
    const runs = await this.prepare([1, 2, 3, 4, 5].map((version) => `run_of ${version}`));
    this.ids = { api, endpoint, runs: runs.map((id) => id.trim()) };
  }

  /** Trains versions at once: they differ in the seed alone. */
  private async train(seeds: readonly number[]): Promise<void> {
    const submitted = await this.prepare(
      seeds.map((seed) => `ringmaster --json submit job.yaml --set seed=${seed} --set dataset=digits@2`),
    );
    const runs = submitted.map((text) => (JSON.parse(text) as { readonly runId: string }).runId);
    await this.prepare(runs.map((run) => `ringmaster runs watch ${run}`));
  }

  /** A version that a client of MLflow registered, with its run's metrics. */
  private async registerByMlflow(api: string): Promise<void> {
    const post = async (operation: string, body: object): Promise<{ readonly run?: { info: { run_id: string } } }> => {
      const response = await fetch(`${api}/api/2.0/mlflow/${operation}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
      return (await response.json()) as { readonly run?: { info: { run_id: string } } };
    };
    const run_id = (await post("runs/create", { experiment_id: "0" })).run!.info.run_id;
    await post("runs/log-metric", { run_id, key: "accuracy", value: 0.97, timestamp: 1 });
    await post("registered-models/create", { name: "churn" });
    const source = `mlflow-artifacts:/0/${run_id}/artifacts/model`;
    await post("model-versions/create", { name: "churn", source, run_id });
  }

  private writePrograms(): void {
    mkdirSync(this.programs);
    const program = (name: string, lines: readonly string[]): void => {
      const file = join(this.programs, name);
      writeFileSync(file, ["#!/usr/bin/env bash", ...lines, ""].join("\n"));
      chmodSync(file, 0o755);
    };
    const cli = join(ensureBuild(), "cli.js");
    program("ringmaster", [`exec "${process.execPath}" "${cli}" "$@"`]);
    program("npx", [
      '[ "$1" = ringmaster ] && shift && exec ringmaster "$@"',
      'echo "npx $1 is not run here"; exit 99',
    ]);
    program("npm", ['echo "npm $1 is not run here"; exit 99']);
    const curl = spawnSync("which", ["curl"], { encoding: "utf8" }).stdout.trim();
    program("curl", [`exec "${curl}" --fail-with-body --silent --show-error "$@"`]);
    program("python", [`exec "${python}" "$@"`]);
    const field = (expression: string): string =>
      `node -e 'let t="";process.stdin.on("data",(c)=>(t+=c)).on("end",()=>console.log(((d)=>${expression})(JSON.parse(t))))'`;
    program("run_of", [
      `ringmaster --json models show digits | ${field("d.versions.find((v)=>v.version===Number(process.argv[1])).runId")} "$1"`,
    ]);
    program("latest_run", [`ringmaster --json runs list --limit 1 | ${field("d.runs[0].runId")}`]);
    const report = 'd.reports.find((each)=>each.status==="refused")?.id??""';
    program("report", [
      `for i in $(seq 300); do id=$(ringmaster --json datasets inbox | ${field(report)}); [ -n "$id" ] && echo $id && exit; sleep 0.2; done`,
    ]);
    program("window_of", [
      `for i in $(seq 300); do ringmaster monitors report "$1" >/dev/null 2>&1 && exit; sleep 0.2; done; exit 1`,
    ]);
    program("epoch", [`ringmaster --json models route digits user-1 | ${field("d.epoch")}`]);
    for (const [name, text] of Object.entries(nodePrograms)) writeFileSync(join(this.programs, `${name}.js`), text);
  }

  private writeFiles(): void {
    const at = (...parts: readonly string[]): string => join(this.directory, ...parts);
    for (const example of ["digits", "penguins", "flights"])
      cpSync(join(root, "examples", example), at("examples", example), { recursive: true });
    symlinkSync(join(root, "node_modules"), at("node_modules"));
    symlinkSync(join(root, "package.json"), at("package.json"));
    // Real data and the real network, fewer of both: what a gate asks for would take minutes.
    const job = readFileSync(at("examples/digits/job.yaml"), "utf8");
    const quick = job
      .replace("filters: [8, 16]", "filters: [2]")
      .replace("hidden: [64]", "hidden: [8]")
      .replace("epochs: 5", "epochs: 1")
      .replace("accuracy: 0.95", "accuracy: 0")
      .replace("logLoss: 0.3", "logLoss: 100");
    writeFileSync(at("examples/digits/job.yaml"), quick);
    writeFileSync(at("job.yaml"), tinyJob);
    writeFileSync(at("plain.yaml"), tinyJob.replace(/registerAs: .*\n/, ""));
    writeFileSync(at("study.yaml"), study);
    writeFileSync(at("policy.yaml"), policy);
    writeFileSync(at("open.yaml"), open);
    writeFileSync(at("reviewed.yaml"), reviewed);
    writeFileSync(at("review.sh"), '#!/bin/sh\ntest -f "$RINGMASTER_CANDIDATE"\n');
    chmodSync(at("review.sh"), 0o755);
    cpSync(at("examples/digits/schema.yaml"), at("schema.yaml"));
    writeFileSync(at("pairs.jsonl"), '{"unit": "user-17", "served": 1, "shadow": 7}\n');
    mkdirSync(at("plots"));
    writeFileSync(at("plots/loss.png"), Buffer.from("89504e470d0a1a0a", "hex"));
    writeFileSync(at("train.py"), trainProgram);
    // A checkout with a change that is not committed, as a reader's is.
    const git = (...args: readonly string[]) =>
      spawnSync("git", ["-c", "user.name=reader", "-c", "user.email=reader@example.com", ...args], {
        cwd: this.directory,
      });
    git("init", "--quiet");
    git("add", "job.yaml");
    git("commit", "--quiet", "--message", "a job");
    writeFileSync(at("job.yaml"), `# Small, for a first try.\n${tinyJob}`);
  }

  async remove(): Promise<void> {
    await this.run(["ringmaster down"]);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Node programs that write the files that pages name. */
const nodePrograms = {
  /** Writes the digits in several formats. */
  files: `const { writeFileSync } = require("node:fs");
const { DuckDBInstance } = require("@duckdb/node-api");
DuckDBInstance.create(":memory:").then(async (instance) => {
  const connection = await instance.connect();
  await connection.run("COPY (SELECT image::VARCHAR AS image, digit, stroke FROM 'march.parquet') TO 'march.csv' (HEADER)");
  await connection.run("COPY (SELECT image::VARCHAR AS image, digit, stroke FROM 'digits.parquet') TO 'digits.csv' (HEADER)");
  const rows = (await connection.runAndReadAll("SELECT image FROM 'digits.parquet' LIMIT 2")).getRowObjectsJson();
  await connection.run("COPY (SELECT image::VARCHAR AS image FROM 'digits.parquet' LIMIT 3) TO 'rows.csv' (HEADER)");
  await connection.run("COPY (SELECT image FROM 'digits.parquet' LIMIT 3) TO 'rows.parquet'");
  writeFileSync("rows.json", JSON.stringify(rows.map(({ image }) => ({ image: image.map(Number) }))));
});
`,
  /** Writes a folder of Parquet files. */
  tables: `const { mkdirSync } = require("node:fs");
const { DuckDBInstance } = require("@duckdb/node-api");
mkdirSync("data", { recursive: true });
DuckDBInstance.create(":memory:").then(async (instance) => {
  const connection = await instance.connect();
  for (const file of [1, 2])
    await connection.run("COPY (SELECT range % 7 AS x, range % 2 = 0 AS y FROM range(40)) TO 'data/" + file + ".parquet'");
  connection.closeSync();
  instance.closeSync();
});
`,
  /** Writes images in class folders, and the members of a tar shard. */
  samples: `const { mkdirSync, writeFileSync } = require("node:fs");
const { PNG } = require("pngjs");
mkdirSync("members");
for (const [value, label] of ["cat", "dog"].entries()) {
  mkdirSync("photos/" + label, { recursive: true });
  for (let i = 0; i < 20; i++) {
    const image = new PNG({ width: 8, height: 8 });
    image.data.fill(100 * value + i);
    writeFileSync("photos/" + label + "/" + i + ".png", PNG.sync.write(image));
    writeFileSync("members/" + label + i + ".png", PNG.sync.write(image));
    writeFileSync("members/" + label + i + ".cls", label);
  }
}
`,
  /** Writes the object of a key from a file. */
  put: `const { readFileSync } = require("node:fs");
const { S3Client, PutObjectCommand } = require("@aws-sdk/client-s3");
const [file, Key] = process.argv.slice(2);
new S3Client({ forcePathStyle: true }).send(new PutObjectCommand({ Bucket: "ringmaster-data", Key, Body: readFileSync(file) }));
`,
  /** Writes what a program that serves \`digits\` logs. */
  served: `const { writeFileSync } = require("node:fs");
const { DuckDBInstance } = require("@duckdb/node-api");
DuckDBInstance.create(":memory:").then(async (instance) => {
  const connection = await instance.connect();
  await connection.run("COPY (SELECT image, digit AS prediction FROM 'digits.parquet') TO 'served.parquet'");
  const rows = (await connection.runAndReadAll("SELECT image, digit FROM 'digits.parquet'")).getRowObjectsJson();
  for (const [file, from] of [["served", 0], ["later", 150]]) {
    const lines = rows.slice(from, from + 150).map(({ image, digit }, i) => ({
      unit: file + i, at: new Date().toISOString(), row: { image: image.map(Number) }, prediction: digit,
    }));
    writeFileSync(file + ".jsonl", lines.map((line) => JSON.stringify(line) + "\\n").join(""));
  }
});
`,
};

const trainProgram = `import mlflow
mlflow.set_experiment("by hand")
with mlflow.start_run():
    mlflow.log_param("depth", 3)
    mlflow.log_metric("accuracy", 0.97)
`;
