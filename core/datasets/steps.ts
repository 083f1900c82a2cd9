import type { FeaturesOutput, ValidationOutput } from "../pipelines/outputs";
import type { Job } from "../runs/job";
import type { StepDefinition } from "../runs/step";
import type { DatasetManifest } from "./manifest";
import { getDatasetVersion } from "./reference";
import type { DatasetRepository } from "./repository";

/** The I/O of the data steps, as functions. */
export interface DatasetWork {
  validate(manifest: DatasetManifest): Promise<ValidationOutput>;
  prepare(manifest: DatasetManifest, job: Job, inputHash: string): Promise<FeaturesOutput>;
}

interface Dependencies {
  readonly datasets: DatasetRepository;
}

/** Builds the validation step. It checks everything that a push claimed. A version is validated once, for all runs. */
export function validationStep(
  { datasets }: Dependencies,
  validate: DatasetWork["validate"],
): StepDefinition<ValidationOutput> {
  return {
    step: "ValidateDataset",
    version: 1,
    reusable: true,
    inputs: ({ dataset }) => ({ name: dataset.name, digest: dataset.digest }),
    async execute({ dataset: { name, version } }) {
      const output = await validate((await getDatasetVersion(datasets, name, version)).manifest);
      await datasets.recordWarnings(name, version, output.warnings);
      return output;
    },
  };
}

/** Builds the feature step. Features depend on the data, on the settings and on the slice columns, not on the model. */
export function featuresStep(
  { datasets }: Dependencies,
  prepare: DatasetWork["prepare"],
): StepDefinition<FeaturesOutput> {
  return {
    step: "PrepareFeatures",
    version: 1,
    reusable: true,
    inputs: ({ dataset, job }) => ({
      name: dataset.name,
      digest: dataset.digest,
      features: job.features,
      slices: job.evaluation.slices,
    }),
    execute: async ({ dataset, job }, _details, inputHash) =>
      prepare((await getDatasetVersion(datasets, dataset.name, dataset.version)).manifest, job, inputHash),
  };
}
