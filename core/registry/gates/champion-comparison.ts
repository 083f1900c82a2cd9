import { sha256 } from "../../digest";
import { compareReports } from "../../evaluation/comparison";
import { isBuiltIn } from "../../evaluation/metrics";
import { pairedMetric } from "../../evaluation/paired-bootstrap";
import type { EvaluationReport } from "../../evaluation/report";
import type { ChampionComparison, EvaluationOutput } from "../../evaluation/shapes";
import { readPredictions, readPredictionTensors, readReport } from "../../evaluation/stored-predictions";
import type { ObjectStore } from "../../ports";
import { championChanged } from "../errors";
import type { ModelVersion } from "../model";
import type { ModelRepository } from "../repository";
import type { Candidate } from "./candidate";
import { missingMetric } from "./judge";
import type { CandidateComparison, ComparedChampion } from "./no-regression";

interface ComparisonPorts {
  readonly repository: Pick<ModelRepository, "findVersion">;
  readonly objects: ObjectStore;
}

/**
 * Compares a candidate with the model in production.
 *
 * @returns `undefined` if there is no champion, or the candidate is the champion
 * @throws CHAMPION_CHANGED if the candidate's evaluation must have compared with the champion, and has not
 */
export async function compareWithChampion(
  { repository, objects }: ComparisonPorts,
  { model, version: candidate, outputs, mustBeCurrent }: Candidate,
): Promise<ComparedChampion | undefined> {
  const version = model.production;
  if (version === undefined || version === candidate.version) return undefined;
  const champion = await repository.findVersion(model.name, version);
  if (!champion) return { version, comparison: { kind: "missing", reason: "it was not found" } };
  const evaluation = outputs?.evaluation;
  const known = knownComparison(candidate, champion, evaluation);
  if (known) return { version, comparison: known };
  if (mustBeCurrent) throw championChanged(model.name, evaluation?.comparison?.champion, version);
  const stored = await compareStored(objects, candidate, champion);
  return { version, comparison: stored ?? noComparison(version, evaluation) };
}

/** Returns the comparison for which nothing has to be read; `undefined` if there is none. */
function knownComparison(
  candidate: ModelVersion,
  champion: ModelVersion,
  evaluation: EvaluationOutput | undefined,
): CandidateComparison | undefined {
  if (champion.weightsSha256 !== undefined && champion.weightsSha256 === candidate.weightsSha256) {
    return { kind: "same-weights" };
  }
  if (champion.artifactKey === undefined) {
    const reasons = ["it was registered from elsewhere and has no artifact to evaluate"];
    return { kind: "incompatible", champion: champion.version, reasons };
  }
  const comparison = evaluation?.comparison;
  return comparison?.champion === champion.version ? comparison : undefined;
}

/** Compares by the stored reports of both versions, if both have one. */
async function compareStored(
  objects: ObjectStore,
  candidate: ModelVersion,
  champion: ModelVersion,
): Promise<ChampionComparison | undefined> {
  const evaluated = ({ version, weightsSha256, evaluationReport }: ModelVersion) =>
    weightsSha256 && evaluationReport ? { version, weightsSha256, evaluationReport } : undefined;
  const [ours, theirs] = [evaluated(candidate), evaluated(champion)];
  return ours && theirs ? compareReports(objects, ours, theirs) : undefined;
}

function noComparison(champion: number, evaluation: EvaluationOutput | undefined): CandidateComparison {
  if (!evaluation) {
    const reasons = ["it was not evaluated here, so there are no rows to compare on"];
    return { kind: "incompatible", champion, reasons };
  }
  const other = evaluation.comparison ? `version ${evaluation.comparison.champion}` : "no champion";
  const reason = `its evaluation compared it with ${other}; submit its job again, known results are reused`;
  return { kind: "missing", reason };
}

/** Adds the comparisons by the metrics that rules name. */
export async function withMetrics(
  { repository, objects }: ComparisonPorts,
  champion: ComparedChampion,
  candidate: ModelVersion,
  metrics: readonly (string | undefined)[],
): Promise<ComparedChampion> {
  const { comparison } = champion;
  const { evaluationReport, weightsSha256 } = candidate;
  const named = metrics.filter((metric) => metric !== undefined);
  if (comparison.kind !== "compared" || named.length === 0) return champion;
  if (!evaluationReport) {
    const reason = "their predictions were not stored; submit its job again";
    return { ...champion, byMetric: new Map(named.map((metric) => [metric, { kind: "missing", reason }])) };
  }
  const report = await readReport(objects, evaluationReport);
  const [{ predictions }, champions, other] = await Promise.all([
    readPredictions(objects, report),
    readPredictionTensors(objects, comparison.championPredictions),
    named.every(isBuiltIn) ? undefined : repository.findVersion(candidate.model, champion.version),
  ]);
  const theirs = other?.evaluationReport && (await readReport(objects, other.evaluationReport));
  const compare = (metric: string): CandidateComparison => {
    if (Object.hasOwn(report.metrics, metric) && !isBuiltIn(metric))
      return compareOwn(comparison, report, theirs, metric);
    const seed = Number.parseInt(sha256(`${metric} ${weightsSha256} ${comparison.seed}`).slice(0, 8), 16);
    const paired = pairedMetric(metric, predictions, champions, seed);
    if (paired) return { ...comparison, metric, ...paired };
    const reason = `${metric} is undefined for one of the models on these rows: ${missingMetric(candidate.metrics, metric)}`;
    return { kind: "missing", reason };
  };
  return { ...champion, byMetric: new Map(named.map((metric) => [metric, compare(metric)])) };
}

/** Compares by a metric that only a module computes: by the values that both trainings recorded for the same rows. */
function compareOwn(
  comparison: Extract<ChampionComparison, { kind: "compared" }>,
  ours: EvaluationReport,
  theirs: EvaluationReport | undefined,
  metric: string,
): CandidateComparison {
  const candidateValue = ours.metrics[metric];
  const championValue = theirs?.metrics[metric];
  const { champion } = comparison;
  if (candidateValue === undefined || championValue === undefined) {
    return {
      kind: "incompatible",
      champion,
      reasons: [`version ${champion} has no ${metric}, which its module did not compute`],
    };
  }
  if (theirs?.dataset.digest !== ours.dataset.digest) {
    const reason = `${metric} of version ${champion} is that of other rows (${theirs?.dataset.name}@${theirs?.dataset.version}), and only its module computes it`;
    return { kind: "incompatible", champion, reasons: [reason] };
  }
  const difference = candidateValue - championValue;
  const values = { candidateValue, championValue, difference, lower: difference, upper: difference };
  return { ...comparison, ...values, metric, resamples: 0 };
}
