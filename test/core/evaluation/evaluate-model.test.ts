import type { EvaluationReport } from "../../../core/evaluation/report";
import { evaluateModel } from "../../../core/evaluation/task";
import type { LabelEncoding } from "../../../core/features/shapes";
import { decodeSafetensors } from "../../../core/safetensors";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { storeOneColumn } from "../../support/one-column";

/** Rows x = 0 … n - 1 in shards of 700; label `labelOf(x)`; slice `odd` or `even`. */
async function setup(rows: number, label: LabelEncoding, labelOf: (x: number) => number) {
  const objects = createMemoryObjectStore();
  const xs = Array.from({ length: rows }, (_, x) => x);
  const slices = [{ column: "parity", values: ["even", "odd"] }];
  const codes = xs.map((x) => [x % 2]);
  const labels = xs.map(labelOf);
  return { objects, features: await storeOneColumn(objects, { xs, labels, label, slices, codes, shardRows: 700 }) };
}

const classes: LabelEncoding = { kind: "class", column: "big", classes: [false, true] };

describe("evaluateModel", () => {
  it("reports overall, by class, by slice and row by row, across shards and batches", async () => {
    const { objects, features } = await setup(2_000, classes, (x) => Number(x >= 1_000));
    // Right for even rows, wrong for odd ones.
    const calls: number[] = [];
    const predict = (inputs: Float32Array, count: number) => {
      calls.push(count);
      return inputs.map((x) => (x >= 1_000 === (x % 2 === 0) ? 0.75 : 0.25));
    };
    const output = await evaluateModel({ features, predictor: { predict }, objects });
    expect(calls).toEqual([700, 700, 600]);
    expect(output.metrics).toMatchObject({ accuracy: 0.5, f1: 0.5, auc: 0.5 });
    const report = JSON.parse(
      Buffer.from(await objects.getContent(output.report.sha256)).toString(),
    ) as EvaluationReport;
    expect(report).toMatchObject({
      dataset: { name: "toy", version: 1 },
      rows: 2_000,
      label: "big",
      metrics: output.metrics,
      confusionMatrix: [
        [500, 500],
        [500, 500],
      ],
    });
    expect(report.classes!.map(({ value, support, recall }) => [value, support, recall])).toEqual([
      [false, 1_000, 0.5],
      [true, 1_000, 0.5],
    ]);
    expect(report.slices).toMatchObject([
      { column: "parity", value: "even", rows: 1_000, metrics: { accuracy: 1, auc: 1 } },
      { column: "parity", value: "odd", rows: 1_000, metrics: { accuracy: 0, auc: 0 } },
    ]);
    const { tensors } = decodeSafetensors(await objects.getContent(report.predictions.sha256));
    expect([...tensors["predicted"]!.data.slice(998, 1_002)]).toEqual([0, 1, 1, 0]);
    expect([...tensors["label"]!.data.slice(998, 1_002)]).toEqual([0, 0, 1, 1]);
    expect(tensors["probabilities"]!.shape).toEqual([2_000]);
  });

  it("reports values", async () => {
    const { objects, features } = await setup(4, { kind: "value", column: "y" }, (x) => x);
    const { report, metrics } = await evaluateModel({
      features,
      objects,
      predictor: { predict: (inputs) => inputs.map((x) => x + 1) },
    });
    expect(metrics).toEqual({ rmse: 1, mae: 1, r2: 1 - 4 / 5 });
    const stored = JSON.parse(Buffer.from(await objects.getContent(report.sha256)).toString()) as EvaluationReport;
    expect([stored.classes, stored.confusionMatrix]).toEqual([undefined, undefined]);
  });

  const withNaN = (inputs: Float32Array) => inputs.map((x) => (x === 1_005 ? Number.NaN : 0.5));
  const tooMany = (inputs: Float32Array) => new Float32Array(inputs.length * 3);
  it.each([
    ["a NaN", withNaN, "NON_FINITE_PREDICTION", /predicts NaN for row 1005/],
    ["too many outputs", tooMany, "MODEL_OUTPUT_MISMATCH", /has 3 outputs per row, but the label needs 1/],
  ])("refuses %s", async (_case, predict, code, message) => {
    const { objects, features } = await setup(1_500, classes, (x) => x % 2);
    const rejected = evaluateModel({ features, objects, predictor: { predict } });
    await expect(rejected).rejects.toMatchObject({ code });
    await expect(rejected).rejects.toThrow(message);
  });
});
