import { CorruptObjectError } from "../object-documents";
import { objectKeys } from "../object-keys";
import { decodeSafetensors, encodeSafetensors, type SafetensorsFile, type SafetensorsTensor } from "../safetensors";
import type { ContentReference } from "../shapes";
import { decided } from "./decision";
import { type Predictions, predictedClasses } from "./metrics";
import type { ContentReader, EvaluationReport } from "./report";
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

/** Reads predictions that were stored without a report. @throws CorruptObjectError */
export async function readPredictionTensors(
  objects: ContentReader,
  { sha256 }: ContentReference,
): Promise<Predictions> {
  const { predictions, metadata = {} } = await readFile(objects, sha256);
  const { positive, cut } = metadata;
  return {
    ...predictions,
    ...(positive === undefined ? {} : { positive: positive === "0" ? 0 : 1 }),
    ...(cut === undefined ? {} : { cut: Number(cut) }),
  };
}

/** @throws CorruptObjectError if the tensors are not those of predictions */
async function readFile(objects: ContentReader, sha256: string) {
  const refuse = (actual: string, cause?: unknown): never => {
    throw new CorruptObjectError(objectKeys.content(sha256), "predictions", actual, cause);
  };
  const body = await objects.getContent(sha256);
  let file: SafetensorsFile;
  try {
    file = decodeSafetensors(body);
  } catch (error) {
    return refuse((error as Error).message, error);
  }
  const { label, predicted, probabilities, slices } = file.tensors;
  const outputs = probabilities ?? predicted;
  const classes = probabilities === undefined ? 0 : (probabilities.shape[1] ?? 2);
  const [rows] = label?.shape ?? [];
  const has = (tensor: SafetensorsTensor | undefined, dtype: string, dimensions: number): boolean =>
    tensor?.dtype === dtype && tensor.shape.length === dimensions && tensor.shape[0] === rows;
  if (!label || !has(label, classes > 0 ? "I32" : "F32", 1)) return refuse("a file without labels of one dimension");
  if (!outputs || !has(outputs, "F32", probabilities && classes !== 2 ? 2 : 1))
    return refuse(`a file without an output for each of its ${rows} labels`);
  if (slices && !has(slices, "I32", 2)) return refuse(`a file without slices for each of its ${rows} labels`);
  const labels = label.data as Int32Array | Float32Array;
  if (classes > 0 && !labels.every((value) => value >= 0 && value < classes))
    return refuse(`a file with labels that are none of its ${classes} classes`);
  const predictions: Predictions = { classes, labels, outputs: outputs.data as Float32Array };
  return { predictions, slices, metadata: file.metadata, refuse };
}

/** Reads a report's predictions, row by row. @throws CorruptObjectError */
export async function readPredictions(
  objects: ContentReader,
  report: EvaluationReport,
): Promise<{ readonly predictions: Predictions; readonly slices?: Int32Array }> {
  const { predictions, slices, refuse } = await readFile(objects, report.predictions.sha256);
  const values = report.classes?.map(({ value }) => value) ?? [];
  if (predictions.classes !== values.length)
    return refuse(`a file of ${predictions.classes} classes, but its report has ${values.length}`);
  const columns = sliceColumnsOf(report).length;
  if (slices && slices.shape[1] !== columns)
    return refuse(`a file of ${slices.shape[1]} slices, but its report has ${columns}`);
  return {
    predictions: decided(predictions, { classes: values }, report.decision),
    ...(slices ? { slices: slices.data as Int32Array } : {}),
  };
}

const sliceColumnsOf = ({ slices }: EvaluationReport): readonly string[] => [
  ...new Set(slices.map(({ column }) => column)),
];

/** Reads predictions with the report's slice columns; no columns if their values were not stored row by row. */
export async function readSlicedPredictions(
  objects: ContentReader,
  report: EvaluationReport,
): Promise<SlicedPredictions> {
  const { predictions, slices } = await readPredictions(objects, report);
  const names = slices ? sliceColumnsOf(report) : [];
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
