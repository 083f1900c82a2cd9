import { getJsonContent } from "../object-documents";
import type { ObjectStore } from "../ports";
import { decodeSafetensors, encodeSafetensors, type SafetensorsTensor } from "../safetensors";
import type { ContentReference } from "../shapes";
import { decided } from "./decision";
import { type Predictions, predictedClasses } from "./metrics";
import { type EvaluationReport, evaluationReport } from "./report";
import type { SlicedPredictions } from "./slices/judge";

/** Encodes predictions without a report, with the decision that they were made by. */
export function encodePredictions(predictions: Predictions): Uint8Array {
  const { positive, cut } = predictions;
  const metadata = {
    ...(positive === undefined ? {} : { positive: `${positive}` }),
    ...(cut === undefined ? {} : { cut: `${cut}` }),
  };
  const tensors = predictionTensors(predictions);
  return encodeSafetensors(Object.keys(metadata).length > 0 ? { tensors, metadata } : { tensors });
}

/** Returns predictions as the tensors of a safetensors file, one row each. */
export function predictionTensors(predictions: Predictions): Readonly<Record<string, SafetensorsTensor>> {
  const { classes, labels, outputs } = predictions;
  const rows = labels.length;
  if (classes === 0) {
    return {
      label: { dtype: "F32", shape: [rows], data: labels },
      predicted: { dtype: "F32", shape: [rows], data: outputs },
    };
  }
  return {
    label: { dtype: "I32", shape: [rows], data: labels },
    predicted: { dtype: "I32", shape: [rows], data: predictedClasses(predictions) },
    probabilities: { dtype: "F32", shape: classes === 2 ? [rows] : [rows, classes], data: outputs },
  };
}

/** Reads predictions that were stored without a report. */
export async function readPredictionTensors(
  objects: ContentReader,
  { sha256 }: ContentReference,
): Promise<Predictions> {
  const { tensors, metadata } = decodeSafetensors(await objects.getContent(sha256));
  const labels = tensors["label"]!.data as Int32Array | Float32Array;
  const { shape = [], data } = tensors["probabilities"] ?? {};
  const { positive, cut } = metadata ?? {};
  if (data === undefined) return { classes: 0, labels, outputs: tensors["predicted"]!.data as Float32Array };
  return {
    classes: shape.length === 1 ? 2 : shape[1]!,
    labels,
    outputs: data as Float32Array,
    ...(positive === undefined ? {} : { positive: positive === "0" ? 0 : 1 }),
    ...(cut === undefined ? {} : { cut: Number(cut) }),
  };
}

type ContentReader = Pick<ObjectStore, "getContent">;

/** @throws CorruptObjectError */
export function readReport(objects: ContentReader, { sha256 }: ContentReference): Promise<EvaluationReport> {
  return getJsonContent(objects, sha256, evaluationReport);
}

/** Reads a report's predictions, row by row. */
export async function readPredictions(
  objects: ContentReader,
  report: EvaluationReport,
): Promise<{ readonly predictions: Predictions; readonly slices?: Int32Array }> {
  const { tensors } = decodeSafetensors(await objects.getContent(report.predictions.sha256));
  const classes = report.classes?.length ?? 0;
  const outputs = tensors[classes > 0 ? "probabilities" : "predicted"]!.data as Float32Array;
  const labels = tensors["label"]!.data as Int32Array | Float32Array;
  const slices = tensors["slices"]?.data as Int32Array | undefined;
  const values = report.classes?.map(({ value }) => value) ?? [];
  const predictions = decided({ classes, labels, outputs }, { classes: values }, report.decision);
  return { predictions, ...(slices ? { slices } : {}) };
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
