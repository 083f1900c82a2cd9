import type { ColumnSchema, DatasetManifest } from "../datasets/shapes";
import { InvalidInputError } from "../errors";
import { predictedClasses } from "../evaluation/metrics";
import type { ModelArtifact } from "../evaluation/model-artifact";
import { readPredictions, readReport } from "../evaluation/stored-predictions";
import { inputColumns } from "../features/planned-rows";
import type { RowSource } from "../features/values";
import type { ObjectStore } from "../ports";
import type { ModelVersion } from "../registry/model";
import type { ContentReference } from "../shapes";
import { Collector, type ColumnSample } from "./sample";

/** A model version with the data that it was trained on. */
export interface ModelBaseline {
  readonly model: string;
  readonly version: number;
  readonly manifest: DatasetManifest;
  readonly rows: RowSource;
  /** The columns that the version reads. */
  readonly features: ReadonlySet<string>;
  /** Name of the label's column. */
  readonly label: string;
  readonly predictions: PredictionBaseline;
}

/** The version's predictions on the test split. */
export interface PredictionBaseline {
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

/** Reads what served rows of a version are compared with. */
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
