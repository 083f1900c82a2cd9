import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { ExportManifest } from "../../api/export/export-version";
import { probabilitiesOf, type TransformDocument } from "../../api/export/transform-document";
import type { Prediction } from "../../cli/predict";
import type { describeRun } from "../../cli/run-description";
import { createRowTransform, type RawRow } from "../../core/features/transform";
import { loadPredictor } from "../../trainer-container/tfjs/predictor";
import { TestStack } from "../e2e/harness";
import { hasTensorFlow, serveSavedModels, tensorFlowTitle } from "./saved-model";

type Shown = ReturnType<typeof describeRun>;
type Answers = Readonly<Record<string, readonly (string | number | boolean | readonly number[])[]>>;

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import onnxruntime; print(onnxruntime.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `onnxruntime ${probe.stdout.trim()} in Python`
    : `onnxruntime in Python (skipped: ${python} cannot import it; name a Python that can in RINGMASTER_PEERS_PYTHON)`;
const mlflow = spawnSync(python, ["-c", "import mlflow, onnx"]).status === 0;
const root = path.join(__dirname, "../..");
const example = (name: string): string => path.join(root, "examples", name);
const vega = (name: string): readonly RawRow[] =>
  JSON.parse(readFileSync(path.join(root, "node_modules/vega-datasets/data", name), "utf8")) as readonly RawRow[];

/** Minutes of delay from the time of day, the airports and the distance. */
const flightsSchema = `columns:
  - { name: date, type: timestamp }
  - { name: origin, type: string }
  - { name: destination, type: string }
  - { name: distance, type: int, minimum: 0 }
  - { name: delay, type: float, role: label }
`;
const jobOf = (name: string, model: string): string => `experiment: ${name}
registerAs: ${name}
dataset: ${name.split("-")[0]}
model: ${model}
hyperparameters: { batchSize: 64, epochs: 2, learningRate: 0.003 }
resources: { workers: 1, backend: wasm }
seed: 7
`;

(probe.status === 0 ? describe : describe.skip)(title, () => {
  // Created when the suite runs, so that a skipped suite leaves no directory.
  let stack: TestStack;
  let digits: string;

  beforeAll(async () => {
    stack = new TestStack();
    digits = path.join(stack.directory, "digits.parquet");
    execFileSync(process.execPath, [path.join(example("digits"), "prepare.js"), digits, "1500"]);
    await stack.up();
    const push = (name: string, file: string, schema: string) =>
      stack.json(["datasets", "push", name, "--file", file, "--schema", schema]);
    await push("digits", digits, path.join(example("digits"), "schema.yaml"));
    const penguins = path.join(root, "node_modules/vega-datasets/data/penguins.json");
    await push("penguins", penguins, path.join(example("penguins"), "schema.yaml"));
    const flights = stack.file("flights.json", JSON.stringify(vega("flights-5k.json").map(iso)));
    await push("flights", flights, stack.file("flights.yaml", flightsSchema));
  }, 300_000);
  afterAll(() => stack.remove());

  const models: readonly (readonly [name: string, job: () => string, rows: () => readonly RawRow[]])[] = [
    ["penguins", () => path.join(example("penguins"), "job.yaml"), () => vega("penguins.json")],
    ["digits-mlp", () => stack.file("mlp.yaml", jobOf("digits-mlp", "{ type: mlp, hidden: [32] }")), images],
    [
      "digits-cnn",
      () => stack.file("cnn.yaml", jobOf("digits-cnn", "{ type: cnn, filters: [6, 8], hidden: [24] }")),
      images,
    ],
    [
      "flights",
      () => stack.file("f.yaml", jobOf("flights", "{ type: mlp, hidden: [16] }")),
      () => vega("flights-5k.json").slice(0, 2_000).map(iso),
    ],
  ];

  it.each(models)(
    "serves raw rows of %s as the platform does",
    async (name, job, rowsOf) => {
      const trained = await stack.json<Shown>(["submit", job(), "--wait"], [0, 1, 3]);
      expect(trained.failure).toBeUndefined();
      const directory = path.join(stack.directory, `${name}-onnx`);
      const plain = path.join(stack.directory, `${name}-safetensors`);
      const { export: exported } = await stack.json<{ export: ExportManifest }>([
        "models",
        "export",
        `${name}@1`,
        "--format",
        "onnx",
        "--out",
        directory,
      ]);
      expect(exported.files.map(({ path: file }) => file)).toEqual([
        "model.onnx",
        "network.onnx",
        "transform.json",
        "examples.json",
      ]);
      await stack.json(["models", "export", `${name}@latest`, "--format", "safetensors", "--out", plain]);

      const rows = rowsOf();
      const found = serve(directory, rows);
      const ours = await platformAnswers(plain, rows);
      const theirs = (found["value"] ?? found["probabilities"])!.flat() as readonly number[];
      expect(theirs).toHaveLength(ours.length);
      expect(Math.max(...ours.map((value, i) => apart(value, theirs[i]!)))).toBeLessThanOrEqual(1e-5);
      expect(found["network"]).toMatchObject({ inputs: [["input", "tensor(float)"]] });
    },
    300_000,
  );

  (hasTensorFlow ? it.each(models) : it.skip.each(models))(
    `serves 1,000 raw rows of %s as the platform does, by ${tensorFlowTitle}`,
    async (name, _job, rowsOf) => {
      const directory = path.join(stack.directory, `${name}-savedmodel`);
      await stack.json(["models", "export", `${name}@1`, "--format", "savedmodel", "--out", directory]);
      const known = rowsOf();
      const rows = Array.from({ length: 1_000 }, (_, i) => known[i % known.length]!);
      const ours = await platformAnswers(path.join(stack.directory, `${name}-safetensors`), rows);
      const [found] = serveSavedModels([{ directory, rows }]);
      const theirs = (found!["value"] ?? found!["probabilities"])!.flat() as readonly number[];
      expect(theirs).toHaveLength(ours.length);
      expect(Math.max(...ours.map((value, i) => apart(value, theirs[i]!)))).toBeLessThanOrEqual(1e-5);
    },
    300_000,
  );

  (mlflow ? it.each(models) : it.skip.each(models))(
    `gives of %s in MLflow's client what the command line predicts${mlflow ? "" : ` (skipped: ${python} cannot import mlflow)`}`,
    async (name, _job, rowsOf) => {
      await stack.json(["models", "approve", name, "1"]);
      await stack.json(["models", "promote", name, "1"], [0, 2]);
      const rows = rowsOf().slice(0, 50);
      const file = stack.file("rows.json", JSON.stringify(rows));
      const { predictions } = await stack.json<{ readonly predictions: readonly Prediction[] }>([
        ...["models", "predict", name, "--file", file],
      ]);
      const { versions } = await stack.json<{ versions: readonly { runId: string }[] }>(["models", "show", name]);
      for (const uri of [`models:/${name}/1`, `models:/${name}@champion`, `runs:/${versions[0]!.runId}/model`]) {
        const found = load(uri, file, `${name}-again`);
        const isRun = uri.startsWith("runs:");
        expect(found.files).toEqual(
          expect.arrayContaining(["MLmodel", "model.onnx", ...(isRun ? [] : ["registered_model_meta"])]),
        );
        expect(found.registered).toBe(isRun ? "1" : null);
        expect(found.onnx).toEqual(found.columns);
        expect(found.answers).toHaveLength(rows.length);
        for (const [i, answer] of found.answers.entries()) {
          const ours = predictions[i]!;
          if ("value" in ours) expect(apart(ours.value, answer.value!)).toBeLessThanOrEqual(1e-5);
          else {
            expect(answer.label).toBe(ours.label);
            const differences = ours.probabilities.map(({ probability }, k) =>
              Math.abs(probability - answer.probabilities![k]!),
            );
            expect(Math.max(...differences)).toBeLessThanOrEqual(1e-5);
          }
        }
      }
    },
    300_000,
  );

  interface Loaded {
    readonly answers: readonly {
      readonly value?: number;
      readonly label?: string | number | boolean;
      readonly probabilities?: readonly number[];
    }[];
    readonly files: readonly string[];
    /** Version of the model `again`, of a run's model. */
    readonly registered: string | null;
    /** Names of the ONNX file's inputs, and of the signature's. */
    readonly onnx: readonly string[];
    readonly columns: readonly string[];
  }

  /** Loads a version by the stock client, which knows the server's address alone, and predicts the file's rows. */
  function load(uri: string, rows: string, again: string): Loaded {
    const { status, stdout, stderr } = spawnSync(python, [path.join(__dirname, "mlflow-load.py"), uri, rows, again], {
      encoding: "utf8",
      env: {
        ...process.env,
        MLFLOW_TRACKING_URI: stack.url,
        MLFLOW_DISABLE_TELEMETRY: "true",
        MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR: "false",
        DO_NOT_TRACK: "true",
      },
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Loaded;
  }

  function serve(directory: string, rows: readonly RawRow[]): Answers {
    const { status, stdout, stderr } = spawnSync(python, [path.join(__dirname, "onnx-serve.py")], {
      input: `${JSON.stringify({ directory, rows })}\n`,
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Answers;
  }

  /** The first of the digits, as the dataset's file has them. */
  function images(): readonly RawRow[] {
    const script = `const { DuckDBInstance } = require("@duckdb/node-api");
      DuckDBInstance.create(":memory:").then(async (instance) => {
        const found = await (await instance.connect()).runAndReadAll("SELECT image FROM read_parquet('" + process.argv[1] + "') LIMIT 1000");
        console.log(JSON.stringify(found.getRowObjectsJson()));
      });`;
    const text = execFileSync(process.execPath, ["-e", script, digits], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    return (JSON.parse(text) as { image: readonly unknown[] }[]).map(({ image }) => ({ image: image.map(Number) }));
  }
});

/** The difference, of the larger of 1 and the value. */
function apart(value: number, other: number): number {
  return Math.abs(value - other) / Math.max(1, Math.abs(value));
}

/** Times as the dataset takes them. */
function iso(row: RawRow): RawRow {
  return { ...row, date: `${String(row["date"]).replaceAll("/", "-").replace(" ", "T")}:00Z` };
}

/** Probabilities row by row, or values: from the exported weights and transform, by the platform's own predictor. */
async function platformAnswers(directory: string, rows: readonly RawRow[]): Promise<readonly number[]> {
  const read = (file: string): string => readFileSync(path.join(directory, file), "utf8");
  const { transform, columns, label } = JSON.parse(read("transform.json")) as TransformDocument;
  const predictor = await loadPredictor({
    topology: read("topology.json"),
    weights: readFileSync(path.join(directory, "model.safetensors")),
  });
  const answers = [...predictor.predict(createRowTransform(transform, columns).apply(rows), rows.length)];
  predictor.dispose();
  if (label.kind === "value" || label.classes.length > 2) return answers;
  return answers.flatMap((each) => probabilitiesOf([each]));
}
