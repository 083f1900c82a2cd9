import type { TaskKind } from "../datasets/shapes";
import { sha256 } from "../digest";
import type { ObjectStore } from "../ports";
import type { ContentReference } from "../shapes";
import { metricsOfTask, type Predictions } from "./metrics";
import { pairedMetric } from "./paired-bootstrap";
import { readReport } from "./report";
import type { ChampionComparison } from "./shapes";
import { encodePredictions, readPredictions } from "./stored-predictions";

export interface Judged {
  readonly predictions: Predictions;
  readonly weightsSha256: string;
}

/**
 * Compares two models' predictions for the same rows by the first metric of the task that both have. Accuracy is also
 * defined for rows of a class that the champion does not know.
 *
 * @param digest digest of the dataset version
 */
export async function compareOutcomes(
  objects: ObjectStore,
  pair: {
    readonly champion: number;
    readonly digest: string;
    readonly task: TaskKind;
    readonly candidate: Judged;
    readonly champions: Judged;
  },
): Promise<ChampionComparison> {
  const { champion, digest, task, candidate, champions } = pair;
  // The seed depends on what is compared, so that another comparison draws other rows.
  const identity = `${digest} ${candidate.weightsSha256} ${champions.weightsSha256}`;
  const seed = Number.parseInt(sha256(identity).slice(0, 8), 16);
  for (const metric of [...metricsOfTask(task), "accuracy"]) {
    const paired = pairedMetric(metric, candidate.predictions, champions.predictions, seed);
    if (!paired) continue;
    const championPredictions = await objects.putContent(encodePredictions(champions.predictions));
    return { kind: "compared", champion, metric, ...paired, championPredictions };
  }
  return { kind: "incompatible", champion, reasons: ["no metric of the task is defined for both models"] };
}

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
    task: ours.task,
    candidate: { predictions: our.predictions, weightsSha256: candidate.weightsSha256 },
    champions: { predictions: their.predictions, weightsSha256: champion.weightsSha256 },
  });
}
