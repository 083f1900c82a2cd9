import { type DatasetRepository, getDatasetVersion } from "../datasets/repository";
import type { DatasetManifest } from "../datasets/shapes";
import type { Job } from "../runs/job";
import type { StepDefinition } from "../runs/step";
import { type FeaturesOutput, featuresKind } from "./shapes";

/**
 * Prepares features. They depend on the data, on the job's settings of features and on the columns of its slices, but not
 * on the model. @param prepare does the I/O
 */
export function featuresStep(
  { datasets }: { readonly datasets: DatasetRepository },
  prepare: (manifest: DatasetManifest, job: Job, inputHash: string) => Promise<FeaturesOutput>,
): StepDefinition<FeaturesOutput> {
  return {
    ...featuresKind,
    version: 1,
    reusable: true,
    inputs: ({ dataset, job }) => ({
      name: dataset.name,
      digest: dataset.digest,
      features: job.features,
      columns: job.columns,
      drop: job.drop,
      slices: job.evaluation.slices,
    }),
    execute: async ({ dataset, job }, _details, inputHash) =>
      prepare((await getDatasetVersion(datasets, dataset.name, dataset.version)).manifest, job, inputHash),
  };
}
