import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { exportVersion } from "../../api/export/export-version";
import { GraphBuilder } from "../../api/export/onnx/builder";
import { addNetwork } from "../../api/export/onnx/network-graph";
import { checkParity } from "../../api/export/parity";
import { toSavedModelFile } from "../../api/export/to-saved-model";
import { probabilitiesOf } from "../../api/export/transform-document";
import { exportTools } from "../../api/services/export-tools";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { mulberry32 } from "../../core/datasets/split";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import type { LabelEncoding } from "../../core/features/shapes";
import { createRowTransform, type RawRow } from "../../core/features/transform";
import type { ObjectStore } from "../../core/ports";
import { networkOf } from "../../trainer-container/tfjs/network";
import { startWasmBackend } from "../../trainer-container/tfjs/wasm-backend";
import { createMemoryObjectStore } from "../adapters/s3/memory-object-store";
import { columns, fitted, labels, mixedRows, planned, registered } from "../support/exportable";
import { build, rows as caseRows, cases, shake } from "../support/network-cases";
import { type Answers, hasTensorFlow, type ServingRequest, serveSavedModels, tensorFlowTitle } from "./saved-model";

/** The training data have no value of the last column. */
const schema: readonly ColumnSchema[] = [
  ...columns,
  { name: "empty", type: "string", role: "feature", nullable: true },
];
const tasks = ["classification", "binary", "regression"] as const;

(hasTensorFlow ? describe : describe.skip)(tensorFlowTitle, () => {
  const root = hasTensorFlow ? mkdtempSync(path.join(os.tmpdir(), "saved-model-")) : "";
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  let answers: ReadonlyMap<string, Answers>;
  const expected = new Map<string, ArrayLike<number>>();
  const labelOf = new Map<string, LabelEncoding>();

  // One process of Python serves all models, because it starts slowly.
  beforeAll(async () => {
    const requests = [...(await exportLayers()), ...(await exportTasks())];
    const found = serveSavedModels(requests);
    answers = new Map(requests.map(({ directory }, i) => [path.basename(directory), found[i]!]));
  }, 600_000);

  async function exportLayers(): Promise<readonly ServingRequest[]> {
    await startWasmBackend();
    const random = mulberry32(7);
    return cases.map(([name, shape, apply], i) => {
      const network = build(shape, apply);
      shake(network, random);
      const size = shape.reduce((product, side) => product * side, 1);
      const draw = name.startsWith("embedding") ? () => Math.floor(random() * 4) : () => Math.fround(random() * 4 - 2);
      const rows = Array.from({ length: caseRows }, () => ({ x: Array.from({ length: size }, draw) }));
      const values = rows.flatMap(({ x }) => x);
      const predicted = tf.tidy(() =>
        (network.predict(tf.tensor(values, [caseRows, ...shape])) as tf.Tensor).dataSync().slice(),
      );
      expected.set(`layers-${i}`, predicted);
      const builder = new GraphBuilder();
      const output = addNetwork(builder, networkOf(network), builder.input("x", "float", ["rows", ...shape]));
      builder.output("output", output, "float", ["rows", network.outputs[0]!.shape[1]!]);
      network.dispose();
      const directory = path.join(root, `layers-${i}`);
      mkdirSync(directory);
      writeFileSync(path.join(directory, "saved_model.pb"), toSavedModelFile(builder.finish("test", {})));
      const metadata = { columns: [{ input: "x", column: "x", type: "float", shape }] };
      writeFileSync(path.join(directory, "metadata.json"), JSON.stringify(metadata));
      return { directory, rows };
    });
  }

  async function exportTasks(): Promise<readonly ServingRequest[]> {
    const requests: ServingRequest[] = [];
    for (const task of [...tasks, "plan"] as const) {
      const objects = createMemoryObjectStore();
      const features =
        task === "plan" ? await planned("regression") : await fitted([...schema, labels[task]], mixedRows);
      const version = await registered(objects, schema, features, { hidden: [7] });
      const cache = { find: async () => undefined, keep: async (_step: string, _hash: string, kept: never) => kept };
      const artifacts = { putProduced: async () => undefined };
      const dependencies = { objects, artifacts, cache, clock: { now: () => 0 } };
      const { manifest } = await exportVersion(dependencies, async () => exportTools, version, "savedmodel");
      const directory = path.join(root, task);
      mkdirSync(directory);
      for (const { path: file, sha256 } of manifest.files)
        writeFileSync(path.join(directory, file), await objects.getContent(sha256));
      const artifact = JSON.parse(new TextDecoder().decode(objects.objects.get(version.artifactKey!))) as ModelArtifact;
      const rows = drawRows();
      expected.set(task, await predict(objects, artifact, rows));
      labelOf.set(task, artifact.label);
      requests.push({ directory, rows });
    }
    return requests;
  }

  it.each(cases.map(([name], i) => [name, `layers-${i}`] as const))("computes the layers: %s", (name, place) => {
    const found = (answers.get(place)!["output"] as readonly (readonly number[])[]).flat();
    expect(checkParity(name, found, expected.get(place)!, caseRows)).toBeLessThan(1e-5);
  });

  it.each([...tasks, "plan"])("computes 1,000 raw rows with every kind of column as the platform does: %s", (task) => {
    const found = answers.get(task)!;
    const label = labelOf.get(task)!;
    // A column has the name of the output `probabilities`.
    const theirs = (found[label.kind === "value" ? "value" : "probabilities_"] as readonly number[][]).flat();
    expect(theirs).toHaveLength(1_000 * (label.kind === "value" ? 1 : label.classes.length));
    expect(checkParity("saved_model.pb", theirs, expected.get(task)!, 1_000)).toBeLessThan(1e-5);
    if (label.kind === "value") return;
    const { classes } = label;
    const best = Array.from({ length: 1_000 }, (_, i) => {
      const own = theirs.slice(i * classes.length, (i + 1) * classes.length);
      return classes[own.indexOf(Math.max(...own))];
    });
    expect(found["label"]).toEqual(best);
  });
});

/** Computes values, or probabilities row by row, with the platform's predictor. */
async function predict(
  objects: Pick<ObjectStore, "getContent">,
  artifact: ModelArtifact,
  rows: readonly RawRow[],
): Promise<readonly number[]> {
  const model = await exportTools.loadModel({
    topology: new TextDecoder().decode(await objects.getContent(artifact.topology.sha256)),
    weights: await objects.getContent(artifact.weights.sha256),
  });
  const dense = createRowTransform(artifact.transform, artifact.inputSchema).apply(rows);
  const predicted = [...model.predict(dense, rows.length)];
  model.dispose();
  if (artifact.label.kind === "value") return predicted;
  const width = predicted.length / rows.length;
  return rows.flatMap((_, i) => probabilitiesOf(predicted.slice(i * width, (i + 1) * width)));
}

/** Returns a time as a whole number of units, in milliseconds. */
const timeAt = (ms: number, unit: number): string => new Date(Math.floor(ms / unit) * unit).toISOString();

/** Draws rows with known, unknown and missing values. */
function drawRows(): readonly RawRow[] {
  const random = mulberry32(3);
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const orMissing = <T>(value: T): T | null => (random() < 0.1 ? null : value);
  return Array.from({ length: 1_000 }, () => ({
    "Beak (mm)": orMissing(random() * 60),
    probabilities: 1_000_000_000 + Math.floor(random() * 80),
    wheels: pick(2, 3, 4, 5),
    island: orMissing(pick("Biscoe", "Dream", "", "Torgersen ✓", "unknown")),
    empty: orMissing("unknown"),
    wet: orMissing(pick(true, false)),
    seen: orMissing(timeAt((random() - 0.1) * 100 * 365.25 * 86_400_000, pick(1, 3_600_000))),
    patch: orMissing(Array.from({ length: 4 }, () => Math.fround(random() * 255))),
  }));
}
