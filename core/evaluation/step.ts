import { getDatasetVersion } from "../datasets/reference";
import type { DatasetRepository } from "../datasets/repository";
import type { DatasetManifest } from "../datasets/shapes";
import type { FeaturesOutput } from "../features/materialize";
import type { FeatureManifest } from "../features/shapes";
import type { RowSource } from "../features/values";
import { getJson } from "../object-documents";
import type { ObjectStore } from "../ports";
import type { RunDetails } from "../runs/shapes";
import { outputOf, type StepDefinition } from "../runs/step";
import type { TrainingOutput } from "../runs/training-task";
import type { ContentReference } from "../shapes";
import { type Champion, compareWithChampion } from "./champion";
import type { ChampionComparison } from "./comparison";
import { type EvaluationOutput, evaluateModel } from "./evaluate-model";
import { latencyRows, maxPredictions, maxPredictionsOfTrial, measureLatency, type Stopwatch } from "./latency";
import { type RowPredictor, splitShards } from "./predict";

/** Rebuilds the trained model; the caller disposes of it. */
export type LoadModel = (artifact: {
  readonly topology: string;
  readonly weights: Uint8Array;
}) => Promise<RowPredictor & { dispose(): void }>;

/** Provides a dataset version's raw rows while `work` runs. */
export type WithRows = <Result>(
  manifest: DatasetManifest,
  work: (rows: RowSource) => Promise<Result>,
) => Promise<Result>;

export interface EvaluationDependencies {
  readonly objects: ObjectStore;
  readonly datasets: DatasetRepository;
}

/** Returns the champion to compare with; none if the run reproduces the champion itself. */
function opponentOf(training: TrainingOutput, champion: Champion | undefined): Champion | undefined {
  return champion?.artifact.weightsSha256 === training.weightsSha256 ? undefined : champion;
}

/** Identifies an evaluation next to a champion. */
export function evaluationIdentity(
  champion: Champion | undefined,
): Pick<StepDefinition<EvaluationOutput>, "step" | "version" | "inputs"> {
  return {
    step: "Evaluate",
    // Version 2 added slices row by row, and the latency; version 3 the champion's predictions.
    version: 3,
    inputs({ job: { evaluation } }, details) {
      const training = outputOf<TrainingOutput>(details, "LaunchTraining");
      const met = opponentOf(training, champion);
      return {
        features: outputOf<FeaturesOutput>(details, "PrepareFeatures").digest,
        weightsSha256: training.weightsSha256,
        topology: training.topology.sha256,
        // Absent where a job does not set them, so that earlier outputs are reused.
        positive: evaluation.positive,
        threshold: evaluation.threshold,
        ...(met ? { champion: { version: met.version, artifactKey: met.artifactKey } } : {}),
      };
    },
  };
}

/**
 * Evaluates the trained weights, and the present champion, on the same held-out rows. The champion is one of the step's
 * inputs: with another champion the evaluation runs again. The candidate's own report does not depend on it.
 *
 * @param stopwatch times single predictions; the times are not in the report, because they are not a function of the
 * inputs
 */
export function evaluationStep(
  { objects, datasets }: EvaluationDependencies,
  loadModel: LoadModel,
  withRows: WithRows,
  champion: Champion | undefined,
  stopwatch?: Stopwatch,
): StepDefinition<EvaluationOutput> {
  const opponent = (training: TrainingOutput) => opponentOf(training, champion);

  async function withModel<Result>(
    model: { readonly topology: ContentReference; readonly weights: ContentReference },
    work: (predictor: RowPredictor) => Promise<Result>,
  ): Promise<Result> {
    const [topology, weights] = await Promise.all([
      objects.getContent(model.topology.sha256),
      objects.getContent(model.weights.sha256),
    ]);
    const predictor = await loadModel({ topology: new TextDecoder().decode(topology), weights });
    try {
      return await work(predictor);
    } finally {
      predictor.dispose();
    }
  }

  async function meet(
    met: Champion,
    { run }: RunDetails,
    candidate: Parameters<typeof compareWithChampion>[0]["candidate"],
  ): Promise<ChampionComparison> {
    const { manifest } = await getDatasetVersion(datasets, run.dataset.name, run.dataset.version);
    return withModel(met.artifact, (predictor) =>
      withRows(manifest, (rows) =>
        compareWithChampion({ champion: met, predictor, manifest, rows, objects, candidate }),
      ),
    );
  }

  return {
    ...evaluationIdentity(champion),
    reusable: true,
    async execute(_run, details) {
      const training = outputOf<TrainingOutput>(details, "LaunchTraining");
      const { featureManifestKey } = outputOf<FeaturesOutput>(details, "PrepareFeatures");
      const features = await getJson<FeatureManifest>(objects, featureManifestKey);
      const { predictions, ...own } = await withModel(training, async (predictor) => {
        const evaluated = await evaluateModel({ features, predictor, objects, settings: details.run.job.evaluation });
        if (!stopwatch) return evaluated;
        const rows = await latencyRows(splitShards(features, objects, "test"), features.transform.width);
        const predictions = details.run.trial ? maxPredictionsOfTrial : maxPredictions;
        const latency = measureLatency(predictor, rows, stopwatch, predictions);
        return latency ? { ...evaluated, latency } : evaluated;
      });
      const met = opponent(training);
      if (!met) return own;
      const { weightsSha256 } = training;
      return { ...own, comparison: await meet(met, details, { predictions, weightsSha256 }) };
    },
  };
}
