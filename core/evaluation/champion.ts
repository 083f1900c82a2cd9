import type { ColumnSchema, DatasetManifest } from "../datasets/shapes";
import { decodeSplitIndex } from "../datasets/split-index";
import { RingmasterError } from "../errors";
import { decodeFeatureShard, type FeatureView } from "../features/encoding";
import { ShardEncoder } from "../features/shard-encoder";
import type { RowSource } from "../features/values";
import type { ObjectStore } from "../ports";
import { type ChampionComparison, compareOutcomes } from "./comparison";
import { decided } from "./decision";
import type { Predictions } from "./metrics";
import type { ModelArtifact } from "./model-artifact";
import { predictShards, type RowPredictor } from "./predict";

/** The champion that a candidate is compared with: the version, and the artifact that serving loads. */
export interface Champion {
  readonly version: number;
  readonly artifactKey: string;
  readonly artifact: ModelArtifact;
}

/**
 * Evaluates the champion on the candidate's test rows: raw rows go through the champion's own transform and model, as
 * in serving. A function of the dataset version and both models.
 */
export async function compareWithChampion(input: {
  readonly champion: Champion;
  readonly predictor: RowPredictor;
  readonly manifest: DatasetManifest;
  readonly rows: RowSource;
  readonly objects: ObjectStore;
  /** The candidate's predictions on the test split. */
  readonly candidate: { readonly predictions: Predictions; readonly weightsSha256: string };
}): Promise<ChampionComparison> {
  const { champion, predictor, manifest, candidate, objects } = input;
  const { artifact, version } = champion;
  const reasons = misfits(artifact, manifest.schema);
  if (reasons.length > 0) return { kind: "incompatible", champion: version, reasons };
  const shape = {
    rows: manifest.split.indexes.test.rows,
    slices: 0,
    transform: artifact.transform,
    label: artifact.label,
  };
  let theirs: Predictions;
  try {
    theirs = (await predictShards(testRows(input), shape, predictor)).predictions;
  } catch (error) {
    // A permanent error is a fact about the champion, not about the candidate's run, so the comparison records it.
    if (!(error instanceof RingmasterError) || error.retryable || error.httpStatus >= 500) throw error;
    return { kind: "incompatible", champion: version, reasons: [error.message] };
  }
  const { label, decision } = artifact;
  if (label.kind === "class") theirs = decided(theirs, label, decision);
  return compareOutcomes(objects, {
    champion: version,
    digest: manifest.digest,
    candidate,
    champions: { predictions: theirs, weightsSha256: artifact.weightsSha256 },
  });
}

/** Returns why the champion cannot read rows of these columns; `undefined` if it can. */
function misfits({ inputSchema, label }: ModelArtifact, schema: readonly ColumnSchema[]): readonly string[] {
  const columns = new Map(schema.map((column) => [column.name, column]));
  const reasons: string[] = [];
  for (const { name, type, shape } of inputSchema) {
    const found = columns.get(name);
    const here = found && `${found.type}${found.shape ? ` of shape [${found.shape}]` : ""}`;
    if (found === undefined) reasons.push(`it needs column ${name}, which the dataset does not have`);
    else if (found.type !== type || String(found.shape) !== String(shape)) {
      reasons.push(
        `it needs column ${name} of type ${type}${shape ? ` and shape [${shape}]` : ""}; in the dataset it is ${here}`,
      );
    }
  }
  const answer = schema.find(({ role }) => role === "label");
  if (answer?.name !== label.column) reasons.push(`it predicts ${label.column}; the label is ${answer?.name}`);
  else if ((answer.type === "float") !== (label.kind === "value")) {
    reasons.push(`it predicts a ${label.kind} of ${label.column}; the label is of type ${answer.type}`);
  }
  return reasons;
}

/**
 * Reads the test split's raw rows with the champion's transform and classes. A class that the champion does not know is
 * -1, which it cannot predict.
 */
async function* testRows({
  champion: { artifact },
  manifest,
  rows,
  objects,
}: Parameters<typeof compareWithChampion>[0]): AsyncGenerator<FeatureView> {
  const { transform, label } = artifact;
  const index = decodeSplitIndex(await objects.getContent(manifest.split.indexes.test.sha256));
  const inTest = new Uint8Array(manifest.rowCount);
  for (const row of index) inTest[row] = 1;
  const encoder = new ShardEncoder({ transform, label, slices: [] }, manifest.schema, {
    rows: index.length,
    withSlices: false,
  });
  const needed = new Set([...transform.outputs.map(({ column }) => column), label.column]);
  for await (const batch of rows.read(manifest.schema.filter(({ name }) => needed.has(name)))) {
    for (let row = 0; row < batch.rows; row += 1) {
      if (inTest[batch.firstRow + row] === 0) continue;
      const shard = encoder.add(batch, row);
      if (shard) yield decodeFeatureShard(shard.bytes, artifact);
    }
  }
}
