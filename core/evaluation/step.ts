import { type DatasetRepository, getDatasetVersion } from "../datasets/repository";
import { featuresKind } from "../features/shapes";
import type { RunDetails } from "../runs/shapes";
import { outputOf, type StepDefinition } from "../runs/step";
import { type TrainingOutput, trainingKind } from "../runs/training-task";
import type { Champion } from "./champion";
import { maxPredictions, maxPredictionsOfTrial } from "./latency";
import { testPrefix } from "./metric-goal";
import { isBuiltIn } from "./metrics";
import type { Metrics } from "./report";
import { type EvaluationOutput, evaluationKind } from "./shapes";
import { type EvaluationTask, type EvaluationTools, evaluateTask } from "./task";

export interface EvaluationDependencies extends EvaluationTools {
  readonly datasets: DatasetRepository;
}

/** Returns the champion to compare with; none if the run reproduces the champion itself. */
function opponentOf(training: TrainingOutput, champion: Champion | undefined): Champion | undefined {
  return champion?.artifact.weightsSha256 === training.weightsSha256 ? undefined : champion;
}

/** Returns the metrics of the test split that only the run's module can compute; `undefined` if there are none. */
function ownMetricsOf({ metrics }: TrainingOutput): Metrics | undefined {
  const ownMetrics = Object.entries(metrics).flatMap(([name, value]) => {
    const short = name.startsWith(testPrefix) ? name.slice(testPrefix.length) : undefined;
    return short === undefined || isBuiltIn(short) ? [] : [[short, value] as const];
  });
  return ownMetrics.length === 0 ? undefined : Object.fromEntries(ownMetrics);
}

export function evaluationIdentity(
  champion: Champion | undefined,
): Omit<StepDefinition<EvaluationOutput>, "execute" | "reusable"> {
  return {
    ...evaluationKind,
    version: 5,
    inputs({ job: { evaluation }, trial }, details) {
      const training = outputOf(details, trainingKind);
      const met = opponentOf(training, champion);
      return {
        features: outputOf(details, featuresKind).digest,
        weightsSha256: training.weightsSha256,
        topology: training.topology.sha256,
        // Absent where a job does not set them, so that earlier outputs are reused.
        positive: evaluation.positive,
        threshold: evaluation.threshold,
        // Trials do not measure the importance of columns.
        importance: trial ? undefined : 1,
        validates: trial ? 1 : undefined,
        own: ownMetricsOf(training),
        ...(met ? { champion: { version: met.version, artifactKey: met.artifactKey } } : {}),
      };
    },
  };
}

export async function evaluationTaskOf(
  datasets: DatasetRepository,
  details: RunDetails,
  champion: Champion | undefined,
): Promise<EvaluationTask> {
  const { run } = details;
  const training = outputOf(details, trainingKind);
  const { topology, weights, weightsSha256 } = training;
  const met = opponentOf(training, champion);
  const opponent = met && {
    champion: met,
    manifest: (await getDatasetVersion(datasets, run.dataset.name, run.dataset.version)).manifest,
  };
  const { positive, threshold } = run.job.evaluation;
  const { backend, vcpusPerWorker, gpusPerWorker, tf32 = false } = run.job.resources;
  return {
    runId: run.runId,
    featureManifestKey: outputOf(details, featuresKind).featureManifestKey,
    model: { topology, weights, weightsSha256 },
    settings: { positive, threshold },
    ...(opponent ? { opponent } : {}),
    timedPredictions: run.trial ? maxPredictionsOfTrial : maxPredictions,
    own: ownMetricsOf(training),
    validates: run.trial !== undefined && run.job.model.type !== "container",
    importance: run.trial === undefined,
    engine: { backend, threads: vcpusPerWorker, gpusPerWorker, tf32 },
  };
}

/**
 * Evaluates the trained weights, and the present champion, on the same held-out rows. The champion is one of the step's
 * inputs: with another champion the evaluation runs again.
 */
export function evaluationStep(
  { datasets, ...tools }: EvaluationDependencies,
  champion: Champion | undefined,
): StepDefinition<EvaluationOutput> {
  return {
    ...evaluationIdentity(champion),
    reusable: true,
    execute: async (_run, details) => evaluateTask(tools, await evaluationTaskOf(datasets, details, champion)),
  };
}
