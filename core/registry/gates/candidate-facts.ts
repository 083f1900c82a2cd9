import { sha256 } from "../../digest";
import { compareReports } from "../../evaluation/comparison";
import type { TimeModel } from "../../evaluation/latency";
import { isBuiltIn, leadingMetrics, metricsOfTask } from "../../evaluation/metrics";
import { pairedMetric } from "../../evaluation/paired-bootstrap";
import { type EvaluationReport, readReport } from "../../evaluation/report";
import type { ChampionComparison, EvaluationOutput } from "../../evaluation/shapes";
import { readPredictions, readPredictionTensors, readSlicedPredictions } from "../../evaluation/stored-predictions";
import type { ObjectStore } from "../../ports";
import type { Artifacts } from "../../tracking/artifacts";
import { championChanged } from "../errors";
import { type LoggedMetricsPorts, loggedMetricsOf } from "../logged-metrics";
import type { ModelVersion } from "../model";
import type { ModelRepository } from "../repository";
import type { Candidate, RunOutputs } from "./candidate";
import { type CandidateFacts, missingMetric } from "./judge";
import type { CandidateComparison, ComparedChampion } from "./no-regression";
import { type GateRequirements, needsSlices } from "./requirements";

interface ComparisonPorts {
  readonly repository: Pick<ModelRepository, "findVersion">;
  readonly objects: ObjectStore;
}

/**
 * Compares a candidate with the model in production.
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
  const comparison = knownComparison(candidate, champion, evaluation);
  if (comparison) return { version, comparison };
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

export interface CandidatePorts extends LoggedMetricsPorts {
  readonly repository: Pick<ModelRepository, "findVersion">;
  readonly objects: ObjectStore;
  /** Files of the runs of versions that were made elsewhere. */
  readonly artifacts: Pick<Artifacts, "listAll">;
  readonly timeModel: TimeModel;
}

/**
 * Returns the facts about a candidate: from the outputs of its run, or from what was logged with it. Reads the
 * predictions of rows only if a gate needs them.
 * @throws CHAMPION_CHANGED if its evaluation must have compared with the present champion, and has not
 */
export async function candidateFacts(
  ports: CandidatePorts,
  candidate: Candidate,
  requirements: GateRequirements,
): Promise<CandidateFacts> {
  const { version, outputs } = candidate;
  const { objects } = ports;
  const [sliced, compared] = await Promise.all([
    needsSlices(requirements) ? readSlices(objects, version) : noSlicesNeeded,
    compareWithChampion(ports, candidate),
  ]);
  const champion = compared && (await withMetrics(ports, compared, version, requirements.regression.metrics));
  const identity = `${version.evaluationReport?.sha256} ${version.weightsSha256}`;
  if (outputs) {
    const latency = requirements.latencyP99Ms === undefined ? undefined : await timedAgain(ports, outputs);
    return { ...measuredFacts(outputs), ...(latency ? { latency } : {}), sliced, identity, champion };
  }
  const bytes = requirements.artifactBytes === undefined ? undefined : await loggedBytes(ports.artifacts, version);
  const metrics = await loggedMetrics(ports, version);
  return {
    metrics,
    // Without predictions nothing is compared; the metric only names what the gate would compare.
    primaryMetric: loggedPrimary.find((name) => Object.hasOwn(metrics, name)) ?? "primary",
    missingMetric: () => "neither the version nor its run has a metric of that name; log it, and evaluate again",
    sliced,
    identity,
    artifactBytes: bytes,
    lacking: "the version was registered from elsewhere; remove the gate, or declare a check of your own",
    champion,
  };
}

/** Returns the facts about a run's model that is not registered. It has no champion. */
export async function unregisteredFacts(
  objects: Pick<ObjectStore, "getContent">,
  outputs: RunOutputs,
  requirements: GateRequirements,
): Promise<CandidateFacts> {
  const { report } = outputs.evaluation;
  return {
    ...measuredFacts(outputs),
    sliced: needsSlices(requirements)
      ? await readSlicedPredictions(objects, await readReport(objects, report))
      : noSlicesNeeded,
    identity: `${report.sha256} ${outputs.training?.weightsSha256}`,
  };
}

/** Primary metrics of tasks, of which a logged version may have one. */
const loggedPrimary = ["auc", "accuracy", "rmse"];

/** Measures again, because the machine may have been busy. A job's measurement, on its worker's engine, is kept. */
async function timedAgain({ objects, timeModel }: CandidatePorts, { evaluation, training }: RunOutputs) {
  return training && evaluation.latency && evaluation.engine?.ran !== "job" ? timeModel(objects, training) : undefined;
}

function measuredFacts({ evaluation: { metrics, latency, task }, training }: RunOutputs) {
  return {
    metrics,
    primaryMetric: leadingMetrics(task, metrics)[0] ?? metricsOfTask(task)[0],
    missingMetric: (metric: string) => missingMetric(metrics, metric),
    ...(latency ? { latency } : {}),
    ...(training ? { artifactBytes: training.weights.bytes + training.topology.bytes } : {}),
    lacking: "its evaluation did not measure it; submit its job again",
  };
}

const noSlicesNeeded: CandidateFacts["sliced"] = { reason: "no gate needs slices" };

async function readSlices(objects: ObjectStore, { evaluationReport }: ModelVersion): Promise<CandidateFacts["sliced"]> {
  if (!evaluationReport) {
    return {
      reason:
        "the version was not evaluated here, so there are no rows to slice; train it with a job, or remove the gate",
    };
  }
  const report = await readReport(objects, evaluationReport);
  const sliced = await readSlicedPredictions(objects, report);
  if (sliced.columns.length > 0 || report.slices.length === 0) return sliced;
  return { reason: "its evaluation did not record slices; submit its job again" };
}

/** Returns the metrics that were recorded with the version; those of its logged model and its run fill gaps. */
async function loggedMetrics(ports: LoggedMetricsPorts, version: ModelVersion): Promise<CandidateFacts["metrics"]> {
  return { ...(await loggedMetricsOf(ports, [version])).get(version.version), ...version.metrics };
}

/** Returns the size of all registered files; `undefined` if they are not stored here. */
async function loggedBytes(
  artifacts: CandidatePorts["artifacts"],
  { runId, loggedModelId, source }: ModelVersion,
): Promise<number | undefined> {
  const files =
    loggedModelId !== undefined
      ? await artifacts.listAll({ kind: "logged-model", modelId: loggedModelId }, "")
      : runId !== undefined
        ? await artifacts.listAll({ kind: "run", runId }, pathIn(source, runId))
        : [];
  return files.length === 0 ? undefined : files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns a source's path in its run: `model` of `…/<runId>/artifacts/model` and of `runs:/<runId>/model`. */
export function pathIn(source: string | undefined, runId: string): string {
  const [, after = ""] = (source ?? "").split(`${runId}/`);
  return after.replace(/^artifacts(\/|$)/, "").replace(/\/+$/, "");
}
