import * as z from "zod";
import type { DatasetManifest, TaskKind } from "../datasets/shapes";
import { decodeSplitIndex } from "../datasets/split-index";
import { RingmasterError } from "../errors";
import type { RowSource } from "../features/values";
import type { ObjectStore } from "../ports";
import { count, type Shape } from "../shapes";
import { compareOutcomes, type Judged } from "./comparison";
import { decided } from "./decision";
import type { Predictions } from "./metrics";
import { modelArtifact } from "./model-artifact";
import { misfits, modelRows, predictShards, type RowPredictor } from "./predict";
import type { ChampionComparison } from "./shapes";

/** The champion that a candidate is compared with: the version, and the artifact that serving loads. */
export const champion = z.object({ version: count, artifactKey: z.string(), artifact: modelArtifact });
export interface Champion extends Shape<typeof champion> {}

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
  readonly candidate: Judged;
  readonly task: TaskKind;
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
    const chosen = new Uint8Array(manifest.rowCount);
    for (const row of decodeSplitIndex(await objects.getContent(manifest.split.indexes.test.sha256))) chosen[row] = 1;
    const rows = modelRows(artifact, manifest.schema, input.rows, chosen);
    theirs = (await predictShards(rows, shape, predictor)).predictions;
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
    task: input.task,
    candidate,
    champions: { predictions: theirs, weightsSha256: artifact.weightsSha256 },
  });
}
