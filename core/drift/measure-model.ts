import type { ColumnSchema, DatasetManifest } from "../datasets/shapes";
import { InvalidInputError } from "../errors";
import { predictedClasses } from "../evaluation/metrics";
import type { ModelArtifact } from "../evaluation/model-artifact";
import { readReport } from "../evaluation/report";
import { readPredictions } from "../evaluation/stored-predictions";
import { inputColumns } from "../features/planned-rows";
import type { RowSource } from "../features/values";
import type { ObjectStore } from "../ports";
import type { ModelVersion } from "../registry/model";
import type { ContentReference } from "../shapes";
import { type InferenceRow, InferenceRows } from "./inference-batch";
import { jointColumnsOf } from "./joint";
import { measureSamples, pairsOf, referenceOf } from "./measure";
import { Collector, type ColumnSample, readSample, type Sample } from "./sample";
import type { DriftThresholds, ModelDriftReport, SchemaChange } from "./shapes";

export interface InferenceWindow {
  readonly rowCount: number;
  open(): AsyncIterable<readonly InferenceRow[]>;
}

/** A baseline whose rows were read. It is the same for all windows of a version. */
export interface SampledBaseline extends Omit<ModelBaseline, "rows"> {
  readonly sample: Sample;
}

export async function sampleBaseline({ rows, ...baseline }: ModelBaseline): Promise<SampledBaseline> {
  const { columns, joint } = measuredColumns(baseline);
  return { ...baseline, sample: await readSample(baseline.manifest, rows, columns, joint) };
}

function measuredColumns({ manifest, features: read, label }: Omit<ModelBaseline, "rows">) {
  const features = manifest.schema.filter(({ name }) => read.has(name));
  const labels = manifest.schema.filter(({ name }) => name === label && !read.has(name));
  return { features, columns: [...features, ...labels], joint: jointColumnsOf(features) };
}

/**
 * Measures how inferences differ from the rows on which a version was trained: its features, the label where it is
 * known, and the predictions, which it compares with those on the test split.
 *
 * @throws InvalidInputError if there is no inference
 */
export async function measureModelDrift(
  baseline: SampledBaseline,
  window: InferenceWindow,
  thresholds: DriftThresholds,
): Promise<ModelDriftReport> {
  const { manifest, model, version, predictions, sample: before } = baseline;
  const { features, columns, joint } = measuredColumns(baseline);
  const inferences = new InferenceRows(() => window.open(), predictions.column);
  const after = await readSample(window, inferences, columns, joint);
  if (after.rows === 0) {
    const rule = "must have inferences: send them with `ringmaster models inferences`, or name a file by --file";
    throw new InvalidInputError("the drift cannot be measured", [{ path: "model", value: model, rule }]);
  }
  const schema = features.flatMap((column) => inferenceChange(column, inferences));
  const isGone = ({ name }: ColumnSchema) =>
    schema.some(({ column, severity }) => column === name && severity === "critical");
  const compared = columns.filter(
    (column) => !isGone(column) && (column.role !== "label" || inferences.valuesSeen(column.name).given > 0),
  );
  // Rows without a label are rows whose label is not known yet.
  const pairs = pairsOf(compared, before, after).map((pair) =>
    pair.column.role === "label" ? { ...pair, current: withoutMissing(pair.current) } : pair,
  );
  const predicted = inferences.predictions();
  const isPredicted = predicted.missing < predicted.rows;
  const predictionPair = {
    column: { name: "prediction", type: predictions.column.type, role: "prediction" },
    baseline: predictions.sample,
    current: withoutMissing(predicted),
  } as const;
  return {
    ...{ model, version, baseline: referenceOf(manifest) },
    ...measureSamples(before, after, isPredicted ? [...pairs, predictionPair] : pairs, schema, thresholds),
  };
}

/** Share of a feature's values from which values of another type are a finding. */
const minWrongShare = 0.01;

function inferenceChange(column: ColumnSchema, inferences: InferenceRows): readonly SchemaChange[] {
  const { given: present, wrong } = inferences.valuesSeen(column.name);
  const finding = { column: column.name, before: column.type, severity: "critical" } as const;
  if (present === 0) return column.nullable === true ? [] : [{ ...finding, change: "removed" }];
  if (wrong === present) return [{ ...finding, change: "type", after: "another type" }];
  if (wrong < minWrongShare * present) return [];
  // The other values are compared, and these count as missing.
  return [{ ...finding, change: "type", after: `another type in ${wrong} of ${present} rows`, severity: "warning" }];
}

const withoutMissing = (sample: ColumnSample): ColumnSample => ({
  ...sample,
  rows: sample.rows - sample.missing,
  missing: 0,
});

export interface ModelBaseline {
  readonly model: string;
  readonly version: number;
  readonly manifest: DatasetManifest;
  readonly rows: RowSource;
  /** The columns that the version reads. */
  readonly features: ReadonlySet<string>;
  readonly label: string;
  readonly predictions: PredictionBaseline;
}

/** The version's predictions on the test split. */
interface PredictionBaseline {
  readonly column: ColumnSchema;
  readonly sample: ColumnSample;
}

/**
 * Returns the data and the evaluation of a version.
 *
 * @throws InvalidInputError if it was registered from elsewhere
 */
export function trainingOf({
  model,
  version,
  dataset,
  evaluationReport,
}: Pick<ModelVersion, "model" | "version" | "dataset" | "evaluationReport">): {
  readonly dataset: { readonly name: string; readonly version: number };
  readonly evaluation: ContentReference;
} {
  if (dataset?.version !== undefined && evaluationReport !== undefined) {
    return { dataset: { name: dataset.name, version: dataset.version }, evaluation: evaluationReport };
  }
  const rule = "must be a version that was trained and evaluated by Ringmaster: its dataset version is the baseline";
  throw new InvalidInputError("the drift cannot be measured", [{ path: "model", value: `${model}/${version}`, rule }]);
}

export async function modelBaseline(
  objects: Pick<ObjectStore, "getContent">,
  version: Pick<ModelVersion, "model" | "version" | "dataset" | "evaluationReport">,
  { transform, label }: Pick<ModelArtifact, "transform" | "label">,
  data: { readonly manifest: DatasetManifest; readonly rows: RowSource },
): Promise<ModelBaseline> {
  return {
    model: version.model,
    version: version.version,
    ...data,
    features: inputColumns(transform),
    label: label.column,
    predictions: await predictionBaseline(objects, trainingOf(version).evaluation),
  };
}

async function predictionBaseline(
  objects: Pick<ObjectStore, "getContent">,
  evaluation: ContentReference,
): Promise<PredictionBaseline> {
  const report = await readReport(objects, evaluation);
  const { predictions } = await readPredictions(objects, report);
  const column: ColumnSchema = { name: "prediction", type: report.classes ? "string" : "float", role: "feature" };
  const collector = new Collector(column);
  if (report.classes) {
    const names = report.classes.map(({ value }) => String(value));
    for (const index of predictedClasses(predictions)) collector.addValue(names[index]);
  } else for (const value of predictions.outputs) collector.addValue(value);
  return { column, sample: collector.finish() };
}
