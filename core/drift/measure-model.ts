import type { ColumnSchema } from "../datasets/shapes";
import { InvalidInputError } from "../errors";
import { jointColumnsOf } from "./joint";
import { measureSamples, pairsOf, referenceOf } from "./measure";
import type { ModelBaseline } from "./model-baseline";
import { type ColumnSample, readSample, type Sample } from "./sample";
import { type ServedRow, ServedRows } from "./served-rows";
import type { DriftThresholds, ModelDriftReport, SchemaChange } from "./shapes";

/** Served rows of a version. */
export interface ServedWindow {
  readonly rowCount: number;
  open(): AsyncIterable<readonly ServedRow[]>;
}

/** A baseline whose rows were read. It is the same for all windows of a version. */
export interface SampledBaseline extends Omit<ModelBaseline, "rows"> {
  readonly sample: Sample;
}

/** Reads the rows of a baseline. */
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
 * Measures how served rows differ from the rows on which a version was trained: its features, the label where it is
 * known, and the predictions, which it compares with those on the test split.
 *
 * @throws InvalidInputError if no row was served
 */
export async function measureModelDrift(
  baseline: SampledBaseline,
  window: ServedWindow,
  thresholds: DriftThresholds,
): Promise<ModelDriftReport> {
  const { manifest, model, version, predictions, sample: before } = baseline;
  const { features, columns, joint } = measuredColumns(baseline);
  const served = new ServedRows(() => window.open(), predictions.column);
  const after = await readSample(window, served, columns, joint);
  if (after.rows === 0) {
    const rule = "must have served rows: send them with `ringmaster models served`, or name a file by --file";
    throw new InvalidInputError("the drift cannot be measured", [{ path: "model", value: model, rule }]);
  }
  const schema = features.flatMap((column) => servedChange(column, served));
  const isGone = ({ name }: ColumnSchema) => schema.some(({ column }) => column === name);
  const compared = columns.filter(
    (column) => !isGone(column) && (column.role !== "label" || served.valuesSeen(column.name).given > 0),
  );
  // Rows without a label are rows whose label is not known yet.
  const pairs = pairsOf(compared, before, after).map((pair) =>
    pair.column.role === "label" ? { ...pair, current: withoutMissing(pair.current) } : pair,
  );
  const predicted = served.predictions();
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

function servedChange(column: ColumnSchema, served: ServedRows): readonly SchemaChange[] {
  const { given, wrong } = served.valuesSeen(column.name);
  const found = { column: column.name, before: column.type, severity: "critical" } as const;
  if (given === 0) return column.nullable === true ? [] : [{ ...found, change: "removed" }];
  return wrong === given ? [{ ...found, change: "type", after: "another type" }] : [];
}

const withoutMissing = (sample: ColumnSample): ColumnSample => ({
  ...sample,
  rows: sample.rows - sample.missing,
  missing: 0,
});
