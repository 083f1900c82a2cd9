import { sha256 } from "../../digest";
import { type ChampionComparison, compareReports } from "../../evaluation/comparison";
import type { EvaluationOutput } from "../../evaluation/evaluate-model";
import { classificationMetricNames, regressionMetricNames } from "../../evaluation/metrics";
import { pairedMetric } from "../../evaluation/paired-bootstrap";
import {
  readPredictions,
  readPredictionTensors,
  readReport,
  readSlicedPredictions,
} from "../../evaluation/stored-predictions";
import type { ObjectStore } from "../../ports";
import type { Job } from "../../runs/job";
import type { RunRepository } from "../../runs/run-repository";
import { findOutput } from "../../runs/step";
import type { TrainingOutput } from "../../runs/training-task";
import type { Artifacts } from "../../tracking/artifacts";
import { ChampionChangedError } from "../errors";
import { type LoggedMetricsPorts, loggedMetricsOf } from "../logged-metrics";
import type { Model, ModelVersion } from "../model";
import type { ModelRepository } from "../repository";
import type { GateSubject } from "./judge";
import type { MetChampion } from "./no-regression";
import type { GateRequirements } from "./requirements";

export interface SubjectDependencies extends LoggedMetricsPorts {
  readonly repository: Pick<ModelRepository, "findVersion">;
  readonly objects: ObjectStore;
  readonly runs: Pick<RunRepository, "findDetails">;
  /** Files of the runs of versions that were made elsewhere. */
  readonly artifacts: Pick<Artifacts, "listAll">;
}

/** The facts about a version that a training run of the platform made. */
export interface MadeByRun {
  readonly job: Job;
  readonly evaluation: EvaluationOutput;
  readonly training: TrainingOutput | undefined;
}

/**
 * Returns the facts about a version: from its training's outputs, or from what was logged with it. Reads the rows'
 * predictions only if a gate needs them.
 */
export function subjectsOf(dependencies: SubjectDependencies) {
  const { repository, objects, runs, artifacts } = dependencies;

  /** Returns the training that made the version; `undefined` if it was registered from elsewhere. */
  async function trainingOf({ runId, artifactKey }: ModelVersion): Promise<MadeByRun | undefined> {
    if (runId === undefined || artifactKey === undefined) return undefined;
    const details = await runs.findDetails(runId);
    const evaluation = details && findOutput<EvaluationOutput>(details, "Evaluate");
    if (!evaluation) return undefined;
    return { job: details.run.job, evaluation, training: findOutput<TrainingOutput>(details, "LaunchTraining") };
  }

  async function slicedOf({ evaluationReport }: ModelVersion, needed: boolean): Promise<GateSubject["sliced"]> {
    if (!needed) return { reason: "no gate needs slices" };
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

  /**
   * @param strict set by a run's own step. If it was compared with another champion, it is evaluated again with the
   * present one.
   */
  async function championOf(
    model: Model,
    candidate: ModelVersion,
    made: MadeByRun | undefined,
    strict: boolean,
  ): Promise<MetChampion | undefined> {
    const version = model.production;
    if (version === undefined || version === candidate.version) return undefined;
    const champion = await repository.findVersion(model.name, version);
    const comparison = made?.evaluation.comparison;
    const met = comparison?.champion === version ? comparison : undefined;
    const unmet = (reason: string): MetChampion => ({ version, comparison: { kind: "unmet", reason } });
    if (!champion) return unmet("it was not found");
    if (champion.weightsSha256 !== undefined && champion.weightsSha256 === candidate.weightsSha256) {
      return { version, comparison: "same" };
    }
    if (champion.artifactKey === undefined) {
      const reasons = ["it was registered from elsewhere and has no artifact to evaluate"];
      return { version, comparison: { kind: "incompatible", champion: version, reasons } };
    }
    if (met) return { version, comparison: met };
    if (strict) throw new ChampionChangedError(model.name, comparison?.champion, version);
    const stored = await storedComparison(candidate, champion);
    if (stored) return { version, comparison: stored };
    if (made) {
      const other = comparison ? `version ${comparison.champion}` : "no champion";
      return unmet(`its evaluation compared it with ${other}; submit its job again, known results are reused`);
    }
    const reasons = ["it was not evaluated here, so there are no rows to compare on"];
    return { version, comparison: { kind: "incompatible", champion: version, reasons } };
  }

  /** Adds the comparisons by metrics that rules name. */
  async function withMetrics(
    met: MetChampion,
    candidate: ModelVersion,
    metrics: readonly (string | undefined)[],
  ): Promise<MetChampion> {
    const { comparison } = met;
    const { evaluationReport, weightsSha256 } = candidate;
    const named = metrics.filter((metric) => metric !== undefined);
    if (comparison === "same" || comparison.kind !== "compared" || named.length === 0) return met;
    if (!evaluationReport || comparison.championPredictions === undefined) {
      const reason = "their predictions were not stored; submit its job again";
      return { ...met, byMetric: new Map(named.map((metric) => [metric, { kind: "unmet", reason }])) };
    }
    const [{ predictions }, champions] = await Promise.all([
      readPredictions(objects, await readReport(objects, evaluationReport)),
      readPredictionTensors(objects, comparison.championPredictions),
    ]);
    const byMetric = named.map((metric): [string, MetChampion["comparison"]] => {
      const seed = Number.parseInt(sha256(`${metric} ${weightsSha256} ${comparison.seed}`).slice(0, 8), 16);
      const paired = pairedMetric(metric, predictions, champions, seed);
      const reason = `${metric} is undefined for one of the models on these rows: ${missingMetric(candidate.metrics, metric)}`;
      return [metric, paired ? { ...comparison, metric, ...paired } : { kind: "unmet", reason }];
    });
    return { ...met, byMetric: new Map(byMetric) };
  }

  async function storedComparison(
    candidate: ModelVersion,
    champion: ModelVersion,
  ): Promise<ChampionComparison | undefined> {
    const evaluated = ({ version, weightsSha256, evaluationReport }: ModelVersion) =>
      weightsSha256 && evaluationReport ? { version, weightsSha256, evaluationReport } : undefined;
    const [ours, theirs] = [evaluated(candidate), evaluated(champion)];
    return ours && theirs ? compareReports(objects, ours, theirs) : undefined;
  }

  /** Returns the metrics that were recorded with the version; those of its logged model and its run fill gaps. */
  async function metricsOf(version: ModelVersion): Promise<Readonly<Record<string, number>>> {
    return { ...(await loggedMetricsOf(dependencies, [version])).get(version.version), ...version.metrics };
  }

  /** Returns the size of all registered files; `undefined` if they are not stored here. */
  async function loggedBytes({ runId, loggedModelId, source }: ModelVersion): Promise<number | undefined> {
    const files =
      loggedModelId !== undefined
        ? await artifacts.listAll({ kind: "logged-model", modelId: loggedModelId }, "")
        : runId !== undefined
          ? await artifacts.listAll({ kind: "run", runId }, pathIn(source, runId))
          : [];
    return files.length === 0 ? undefined : files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  return {
    trainingOf,

    async subjectOf(
      model: Model,
      candidate: ModelVersion,
      made: MadeByRun | undefined,
      requirements: GateRequirements,
      strict: boolean,
    ): Promise<GateSubject> {
      const needed = requirements.slices.length + requirements.fairness.length > 0;
      const [sliced, met] = await Promise.all([
        slicedOf(candidate, needed),
        championOf(model, candidate, made, strict),
      ]);
      const champion = met && (await withMetrics(met, candidate, requirements.regression.metrics));
      const identity = `${candidate.evaluationReport?.sha256} ${candidate.weightsSha256}`;
      if (made) {
        return {
          metrics: made.evaluation.metrics,
          missingMetric: (metric) => missingMetric(made.evaluation.metrics, metric),
          sliced,
          identity,
          ...(made.evaluation.latency ? { latency: made.evaluation.latency } : {}),
          ...(made.training ? { artifactBytes: made.training.weights.bytes + made.training.topology.bytes } : {}),
          lacking: "its evaluation did not measure it; submit its job again",
          champion,
        };
      }
      const bytes = requirements.artifactBytes === undefined ? undefined : await loggedBytes(candidate);
      return {
        metrics: await metricsOf(candidate),
        missingMetric: () => "neither the version nor its run has a metric of that name; log it, and evaluate again",
        sliced,
        identity,
        ...(bytes === undefined ? {} : { artifactBytes: bytes }),
        lacking: "the version was registered from elsewhere; remove the gate, or declare a check of your own",
        champion,
      };
    },
  };
}

/** @param metrics the metrics of a training's evaluation, without undefined ones */
export function missingMetric(metrics: Readonly<Record<string, number>>, metric: string): string {
  const names: readonly string[] = "rmse" in metrics ? regressionMetricNames : classificationMetricNames;
  return names.includes(metric)
    ? "it is undefined for the rows of the test split (docs/gates.md, Metrics)"
    : `this task has no metric of that name; it has ${names.join(", ")}`;
}

/**
 * Returns the path of a source under its run's artifacts: `model` for `…/<runId>/artifacts/model` and for
 * `runs:/<runId>/model`.
 */
export function pathIn(source: string | undefined, runId: string): string {
  const [, after = ""] = (source ?? "").split(`${runId}/`);
  return after.replace(/^artifacts(\/|$)/, "").replace(/\/+$/, "");
}
