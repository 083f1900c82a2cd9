import { sha256 } from "../digest";
import type { ObjectStore } from "../ports";
import { encodeSafetensors } from "../safetensors";
import type { ContentReference } from "../shapes";
import { type Predictions, predictedClasses } from "./metrics";
import { type OutcomeMetric, pairedBootstrap } from "./paired-bootstrap";
import type { ChampionComparison } from "./shapes";
import { encodePredictions, readPredictions, readReport } from "./stored-predictions";

interface Judged {
  readonly predictions: Predictions;
  readonly weightsSha256: string;
}

/**
 * Compares two models' predictions for the same rows.
 *
 * @param digest digest of the dataset version
 */
export async function compareOutcomes(
  objects: ObjectStore,
  pair: { readonly champion: number; readonly digest: string; readonly candidate: Judged; readonly champions: Judged },
): Promise<ChampionComparison> {
  const { champion, digest, candidate, champions } = pair;
  const outcomes = { candidate: outcomesOf(candidate.predictions), champion: outcomesOf(champions.predictions) };
  const metric = champions.predictions.classes > 0 ? "accuracy" : "rmse";
  const statistic: OutcomeMetric = metric === "accuracy" ? "mean" : "root-mean";
  // The seed depends on what is compared, so that another comparison draws other rows.
  const seed = Number.parseInt(
    sha256(`${digest} ${candidate.weightsSha256} ${champions.weightsSha256}`).slice(0, 8),
    16,
  );
  const tensor = (data: Float32Array) => ({ dtype: "F32", shape: [data.length], data }) as const;
  return {
    kind: "compared",
    champion,
    metric,
    candidateValue: metricOver(outcomes.candidate, statistic),
    championValue: metricOver(outcomes.champion, statistic),
    ...pairedBootstrap(outcomes.candidate, outcomes.champion, statistic, seed),
    championPredictions: await objects.putContent(encodePredictions(champions.predictions)),
    outcomes: await objects.putContent(
      encodeSafetensors({
        tensors: { candidate: tensor(outcomes.candidate), champion: tensor(outcomes.champion) },
      }),
    ),
  };
}

/** A model version with its evaluation. */
export interface EvaluatedVersion {
  readonly version: number;
  readonly weightsSha256: string;
  readonly evaluationReport: ContentReference;
}

/**
 * Compares two models by their stored predictions, without running them. Returns `undefined` if they were evaluated on
 * different rows.
 */
export async function compareReports(
  objects: ObjectStore,
  candidate: EvaluatedVersion,
  champion: EvaluatedVersion,
): Promise<ChampionComparison | undefined> {
  const [ours, theirs] = await Promise.all([
    readReport(objects, candidate.evaluationReport),
    readReport(objects, champion.evaluationReport),
  ]);
  const same =
    ours.dataset.digest === theirs.dataset.digest &&
    ours.label === theirs.label &&
    ours.rows === theirs.rows &&
    (ours.classes === undefined) === (theirs.classes === undefined);
  if (!same) return undefined;
  const [our, their] = await Promise.all([readPredictions(objects, ours), readPredictions(objects, theirs)]);
  return compareOutcomes(objects, {
    champion: champion.version,
    digest: ours.dataset.digest,
    candidate: { predictions: our.predictions, weightsSha256: candidate.weightsSha256 },
    champions: { predictions: their.predictions, weightsSha256: champion.weightsSha256 },
  });
}

/** Returns one number for each row: 1 if the class is correct and 0 if not; for regression, the squared error. */
function outcomesOf(predictions: Predictions): Float32Array {
  const { classes, labels, outputs } = predictions;
  const predicted = classes > 0 ? predictedClasses(predictions) : outputs;
  return Float32Array.from(labels, (label, row) =>
    classes > 0 ? Number(predicted[row] === label) : (predicted[row]! - label) ** 2,
  );
}

function metricOver(outcomes: Float32Array, metric: OutcomeMetric): number {
  let sum = 0;
  for (const outcome of outcomes) sum += outcome;
  return metric === "mean" ? sum / outcomes.length : Math.sqrt(sum / outcomes.length);
}
