import type { ObjectStore } from "../ports";
import { decodeSafetensors } from "../safetensors/safetensors";
import type { ContentReference } from "../shapes";
import type { Predictions } from "./metrics";
import type { EvaluationReport } from "./report";
import type { SlicedPredictions } from "./slices/judge";

type ContentReader = Pick<ObjectStore, "getContent">;

export async function readReport(objects: ContentReader, { sha256 }: ContentReference): Promise<EvaluationReport> {
  return JSON.parse(new TextDecoder().decode(await objects.getContent(sha256))) as EvaluationReport;
}

/** Reads a report's predictions, row by row. Evaluations of earlier releases lack `slices`. */
export async function readPredictions(
  objects: ContentReader,
  report: EvaluationReport,
): Promise<{ readonly predictions: Predictions; readonly slices?: Int32Array }> {
  const { tensors } = decodeSafetensors(await objects.getContent(report.predictions.sha256));
  const classes = report.classes?.length ?? 0;
  const outputs = tensors[classes > 0 ? "probabilities" : "predicted"]!.data as Float32Array;
  const labels = tensors["label"]!.data as Int32Array | Float32Array;
  const slices = tensors["slices"]?.data as Int32Array | undefined;
  return { predictions: { classes, labels, outputs }, ...(slices ? { slices } : {}) };
}

/** Reads predictions with the report's slice columns; no columns if their values were not stored row by row. */
export async function readSlicedPredictions(
  objects: ContentReader,
  report: EvaluationReport,
): Promise<SlicedPredictions> {
  const { predictions, slices } = await readPredictions(objects, report);
  const names = slices ? [...new Set(report.slices.map(({ column }) => column))] : [];
  return {
    predictions,
    classes: report.classes?.map(({ value }) => value) ?? [],
    columns: names.map((column, index) => ({
      column,
      values: report.slices.filter((slice) => slice.column === column).map(({ value }) => value),
      codes: Int32Array.from(predictions.labels, (_, row) => slices![row * names.length + index]!),
    })),
  };
}
