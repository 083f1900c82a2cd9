import type { FeatureManifest } from "../features/manifest";
import { getJson } from "../object-documents";
import type { EvaluationOutput, FeaturesOutput, TrainingOutput } from "../pipelines/outputs";
import { outputOf, type StepDefinition } from "../pipelines/step";
import type { ObjectStore } from "../ports";
import { evaluateModel, type RowPredictor } from "./evaluate-model";

/** Rebuilds the trained model; the caller disposes of it. */
export type LoadModel = (artifact: {
  readonly topology: string;
  readonly weights: Uint8Array;
}) => Promise<RowPredictor & { dispose(): void }>;

/** Evaluates the trained weights on the held-out split; the slices are part of the features. */
export function evaluationStep(
  { objects }: { readonly objects: ObjectStore },
  loadModel: LoadModel,
): StepDefinition<EvaluationOutput> {
  return {
    step: "Evaluate",
    version: 1,
    reusable: true,
    inputs(_run, details) {
      const { weightsSha256, topology } = outputOf<TrainingOutput>(details, "LaunchTraining");
      return {
        features: outputOf<FeaturesOutput>(details, "PrepareFeatures").digest,
        weightsSha256,
        topology: topology.sha256,
      };
    },
    async execute(_run, details) {
      const training = outputOf<TrainingOutput>(details, "LaunchTraining");
      const { featureManifestKey } = outputOf<FeaturesOutput>(details, "PrepareFeatures");
      const [features, topology, weights] = await Promise.all([
        getJson<FeatureManifest>(objects, featureManifestKey),
        objects.getContent(training.topology.sha256),
        objects.getContent(training.weights.sha256),
      ]);
      const predictor = await loadModel({ topology: new TextDecoder().decode(topology), weights });
      try {
        return await evaluateModel({ features, predictor, objects });
      } finally {
        predictor.dispose();
      }
    },
  };
}
