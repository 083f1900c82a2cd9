import { getDatasetVersion } from "../datasets/reference";
import type { DatasetRepository } from "../datasets/repository";
import type { EvaluationOutput } from "../evaluation/evaluate-model";
import type { ModelArtifact, OutputSchema } from "../evaluation/model-artifact";
import type { FeaturesOutput } from "../features/materialize";
import type { FeatureManifest } from "../features/shapes";
import { getJson } from "../object-documents";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { outputOf, type StepDefinition } from "../runs/step";
import type { TrainingOutput } from "../runs/training-task";
import { storeArtifact } from "./artifact";
import { ReproductionNotRegisteredError } from "./errors";
import type { ModelSignature } from "./model";
import type { Registry } from "./registry";

/** Output of the step `Register`. */
export interface RegistrationOutput {
  readonly model: string;
  readonly version: number;
}

export interface RegistrationDependencies {
  readonly objects: ObjectStore;
  readonly registry: Registry;
  readonly datasets: DatasetRepository;
  readonly clock: Clock;
}

/**
 * Registers a run's weights as a version of its model: an artifact with everything that serving needs, and a row in the
 * registry.
 */
export function registrationStep(dependencies: RegistrationDependencies): StepDefinition<RegistrationOutput> {
  const { objects, registry, datasets, clock } = dependencies;
  return {
    step: "Register",
    version: 1,
    reusable: true,
    inputs: (run, details) => ({
      model: run.model,
      team: run.team,
      weightsSha256: outputOf<TrainingOutput>(details, "LaunchTraining").weightsSha256,
      features: outputOf<FeaturesOutput>(details, "PrepareFeatures").digest,
      report: outputOf<EvaluationOutput>(details, "Evaluate").report.sha256,
    }),
    async execute(run, details) {
      // The state machine ends a reproduction before this step. A reproduction is never a candidate.
      if (run.reproducedFrom) throw new ReproductionNotRegisteredError(run.runId, run.reproducedFrom);
      const training = outputOf<TrainingOutput>(details, "LaunchTraining");
      const evaluation = outputOf<EvaluationOutput>(details, "Evaluate");
      const features = await getJson<FeatureManifest>(
        objects,
        outputOf<FeaturesOutput>(details, "PrepareFeatures").featureManifestKey,
      );
      const { manifest } = await getDatasetVersion(datasets, run.dataset.name, run.dataset.version);
      const artifact: ModelArtifact = {
        format: 1,
        runId: run.runId,
        model: run.model,
        weights: training.weights,
        topology: training.topology,
        weightsSha256: training.weightsSha256,
        transform: features.transform,
        label: features.label,
        inputSchema: manifest.schema.filter((column) => column.role === "feature"),
        outputSchema: outputSchemaOf(features),
        numerics: training.numerics,
      };
      const artifactKey = await storeArtifact(objects, artifact);
      const version = await registry.register(
        run.team,
        {
          model: run.model,
          runId: run.runId,
          weightsSha256: training.weightsSha256,
          artifactKey,
          dataset: run.dataset,
          metrics: evaluation.metrics,
          evaluationReport: evaluation.report,
          submittedBy: run.createdBy,
          submitters: run.submitters,
          framework: "ringmaster",
          signature: signatureOf(artifact),
        },
        { by: `run ${run.runId}`, at: isoTime(clock) },
        { runId: run.runId },
      );
      return { model: run.model, version };
    },
  };
}

function outputSchemaOf(features: FeatureManifest): OutputSchema {
  return features.label.kind === "class"
    ? { kind: "probabilities", classes: features.label.classes }
    : { kind: "value", column: features.label.column };
}

/** Largest signature in a row of the registry. A signature with more columns is only in the artifact. */
const widestSignature = 1_000;

function signatureOf({ inputSchema, outputSchema }: ModelArtifact): ModelSignature | undefined {
  if (inputSchema.length > widestSignature) return undefined;
  return {
    inputs: inputSchema.map(({ name, type, shape }) => ({ name, type, ...(shape && { shape }) })),
    outputs:
      outputSchema.kind === "value"
        ? [{ name: outputSchema.column, type: "float" }]
        : [{ name: "probabilities", type: "float", shape: [outputSchema.classes.length] }],
  };
}
