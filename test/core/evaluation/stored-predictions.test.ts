import type { DatasetRepository } from "../../../core/datasets/repository";
import { compareReports } from "../../../core/evaluation/comparison";
import { readReport } from "../../../core/evaluation/report";
import { evaluationStep } from "../../../core/evaluation/step";
import { readSlicedPredictions } from "../../../core/evaluation/stored-predictions";
import type { WithRows } from "../../../core/evaluation/task";
import { objectKeys } from "../../../core/object-keys";
import type { RunDetails } from "../../../core/runs/shapes";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { preparedFeatures, resultOf } from "../../support/fixtures";
import { storeOneColumn } from "../../support/one-column";

const noRows: WithRows = () => Promise.reject(new Error("there is no champion to read rows for"));

/** Six rows in two shards: x is the probability, cut by two columns. */
const rows = [
  { x: 0.9, label: 1, colour: 0, shape: 1 },
  { x: 0.2, label: 1, colour: 1, shape: 1 },
  { x: 0.7, label: 0, colour: 1, shape: 0 },
  { x: 0.1, label: 0, colour: 0, shape: 2 },
  { x: 0.8, label: 1, colour: 1, shape: 2 },
  { x: 0.3, label: 0, colour: 0, shape: 0 },
];

async function evaluated(probabilityOf: (x: number) => number, digest = "d".repeat(64)) {
  const objects = createMemoryObjectStore();
  const features = await storeOneColumn(objects, {
    xs: rows.map(({ x }) => x),
    labels: rows.map(({ label }) => label),
    label: { kind: "class", column: "y", classes: ["no", "yes"] },
    slices: [
      { column: "colour", values: ["red", null] },
      { column: "shape", values: [1, 2, 3] },
    ],
    codes: rows.map(({ colour, shape }) => [colour, shape]),
    ...{ shardRows: 4, digest },
  });
  const featureManifestKey = objectKeys.featureManifest("f00");
  await objects.put(featureManifestKey, JSON.stringify(features));
  const [topology, weights] = [await objects.putContent("{}"), await objects.putContent("weights")];
  const details = {
    run: { job: { evaluation: {}, resources: {} } },
    steps: [
      { step: "PrepareFeatures", output: { ...preparedFeatures.output, featureManifestKey } },
      { step: "LaunchTraining", output: { ...resultOf("run-1"), weights, topology, weightsSha256: weights.sha256 } },
    ],
  } as unknown as RunDetails;
  let now = 0;
  const stopwatch = {
    now: () => now,
    machine: { cpu: "test", processors: 1, memoryMb: 1, host: "local", node: "", platform: "", arch: "" },
  };
  const model = {
    predict(inputs: Float32Array, count: number) {
      if (count === 1) now += 2;
      return inputs.map(probabilityOf);
    },
    dispose: () => undefined,
  };
  const tools = { objects, loadModel: async () => model, withRows: noRows, stopwatch };
  const step = evaluationStep({ ...tools, datasets: {} as DatasetRepository }, undefined);
  return { objects, output: await step.execute(details.run, details, "hash") };
}

it("an evaluation keeps its rows as gates need them, and how long a prediction takes", async () => {
  const { objects, output } = await evaluated((x) => x);
  expect(output.latency).toMatchObject({ predictions: 1_000, p50Ms: 2, p99Ms: 2 });
  const { predictions, classes, columns } = await readSlicedPredictions(
    objects,
    await readReport(objects, output.report),
  );
  expect([...predictions.outputs].map((value) => Number(value.toFixed(3)))).toEqual(rows.map(({ x }) => x));
  expect([...predictions.labels]).toEqual(rows.map(({ label }) => label));
  expect(classes).toEqual(["no", "yes"]);
  expect(columns.map(({ column, values, codes }) => [column, values, [...codes]])).toEqual([
    ["colour", ["red", null], rows.map(({ colour }) => colour)],
    ["shape", [1, 2, 3], rows.map(({ shape }) => shape)],
  ]);
});

it("two evaluations are compared where they are of the same rows", async () => {
  const ours = await evaluated((x) => x);
  const theirs = await evaluated(() => 0);
  const other = await evaluated((x) => x, "e".repeat(64));
  for (const { objects } of [theirs, other]) {
    for (const key of await objects.list("cas/")) await ours.objects.put(key, await objects.get(key));
  }
  const version = (number: number, { output }: typeof ours) => ({
    version: number,
    weightsSha256: `weights of ${number}`,
    evaluationReport: output.report,
  });
  // Right are 4 of 6 rows, and the 3 that are no.
  expect(await compareReports(ours.objects, version(2, ours), version(1, theirs))).toMatchObject({
    kind: "compared",
    champion: 1,
    metric: "accuracy",
    candidateValue: expect.closeTo(4 / 6, 12),
    championValue: 0.5,
    rows: 6,
  });
  expect(await compareReports(ours.objects, version(2, ours), version(3, other))).toBeUndefined();
});
