import { type DatasetRepository, getDatasetVersion } from "../datasets/repository";
import type { ModelArtifact, OutputSchema } from "../evaluation/model-artifact";
import { evaluationKind } from "../evaluation/shapes";
import { inputColumns } from "../features/planned-rows";
import { type FeatureManifest, featureManifest, featuresKind } from "../features/shapes";
import { getJson } from "../object-documents";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { runNotCompleted, runNotEvaluated, runNotFound } from "../runs/errors";
import type { RunRepository } from "../runs/run-repository";
import type { RunDetails } from "../runs/shapes";
import { findOutput, outputOf, type StepDefinition } from "../runs/step";
import { trainingKind } from "../runs/training-task";
import { storeArtifact } from "./artifact";
import { reproductionNotRegistered } from "./errors";
import { type Actor, type ModelSignature, type RegistrationOutput, registrationKind } from "./model";
import type { Registry } from "./registry";

export interface RegistrationDependencies {
  readonly objects: ObjectStore;
  readonly registry: Registry;
  readonly datasets: DatasetRepository;
  readonly clock: Clock;
}

/** Registers a run's weights: an artifact with everything that serving needs, and a row in the registry. */
export function registrationStep(dependencies: RegistrationDependencies): StepDefinition<RegistrationOutput> {
  return {
    ...registrationKind,
    version: 1,
    reusable: true,
    inputs: (run, details) => ({
      model: run.model,
      team: run.team,
      weightsSha256: outputOf(details, trainingKind).weightsSha256,
      features: outputOf(details, featuresKind).digest,
      report: outputOf(details, evaluationKind).report.sha256,
    }),
    async execute(run, details) {
      // The state machine ends other runs before this step.
      if (run.model === undefined) throw new Error(`run ${run.runId} names no model to register`);
      return registerVersion(dependencies, run.model, details, { by: `run ${run.runId}` });
    },
  };
}

/**
 * Registers the model of a run that has completed without a version, as `registerAs` would have done. Idempotent: a run
 * makes at most one version of a model.
 * @throws RUN_NOT_FOUND, RUN_NOT_COMPLETED, RUN_NOT_EVALUATED, REPRODUCTION_NOT_REGISTERED
 */
export async function registerRun(
  dependencies: RegistrationDependencies & { readonly runs: Pick<RunRepository, "findDetails"> },
  runId: string,
  model: string,
  actor: Omit<Actor, "at">,
): Promise<RegistrationOutput> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) throw runNotFound(runId, "training");
  if (details.run.status !== "completed") throw runNotCompleted(runId, details.run.status);
  if (!isEvaluated(details)) throw runNotEvaluated(runId);
  return registerVersion(dependencies, model, details, actor);
}

/**
 * The artifact of a run's model, with everything that serving needs. @throws if it has not trained or was not evaluated
 */
export async function artifactOfRun(
  { objects, datasets }: Pick<RegistrationDependencies, "objects" | "datasets">,
  details: RunDetails,
  model: string,
): Promise<ModelArtifact> {
  const { run } = details;
  const training = outputOf(details, trainingKind);
  const { decision } = outputOf(details, evaluationKind);
  const { featureManifestKey } = outputOf(details, featuresKind);
  const features = await getJson(objects, featureManifestKey, featureManifest);
  const { manifest } = await getDatasetVersion(datasets, run.dataset.name, run.dataset.version);
  const used = inputColumns(features.transform);
  return {
    format: 1,
    runId: run.runId,
    model,
    weights: training.weights,
    topology: training.topology,
    weightsSha256: training.weightsSha256,
    ...(run.job.model.type === "container" ? { container: true as const } : {}),
    transform: features.transform,
    label: features.label,
    inputSchema: manifest.schema.filter(({ name }) => used.has(name)),
    outputSchema: outputSchemaOf(features),
    ...(decision ? { decision } : {}),
    numerics: training.numerics,
  };
}

/** Tests whether a run has recorded everything that a version is made of. */
export function isEvaluated(details: RunDetails): boolean {
  return [featuresKind, trainingKind, evaluationKind].every((kind) => findOutput<unknown>(details, kind));
}

async function registerVersion(
  { objects, registry, datasets, clock }: RegistrationDependencies,
  model: string,
  details: RunDetails,
  actor: Omit<Actor, "at">,
): Promise<RegistrationOutput> {
  const { run } = details;
  // A reproduction is never a candidate.
  if (run.reproducedFrom) throw reproductionNotRegistered(run.runId, run.reproducedFrom);
  const training = outputOf(details, trainingKind);
  const evaluation = outputOf(details, evaluationKind);
  const artifact = await artifactOfRun({ objects, datasets }, details, model);
  const version = await registry.register(
    run.team,
    {
      model,
      runId: run.runId,
      weightsSha256: training.weightsSha256,
      artifactKey: await storeArtifact(objects, artifact),
      dataset: run.dataset,
      metrics: evaluation.metrics,
      evaluationReport: evaluation.report,
      submittedBy: run.createdBy,
      submitters: run.submitters,
      framework: artifact.container ? "container" : "ringmaster",
      signature: signatureOf(artifact),
    },
    { ...actor, at: isoTime(clock) },
    { runId: run.runId },
  );
  return { model, version };
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
