import { getDatasetVersion } from "../../core/datasets/reference";
import type { DatasetRepository } from "../../core/datasets/repository";
import type { FeaturesOutput } from "../../core/pipelines/outputs";
import type { StepDefinition } from "../../core/pipelines/step";
import type { ObjectStore } from "../../core/ports";
import { prepareFeatures } from "./prepare";

export function featuresStep(dependencies: {
  readonly datasets: DatasetRepository;
  readonly objects: ObjectStore;
}): StepDefinition<FeaturesOutput> {
  return {
    step: "PrepareFeatures",
    version: 1,
    reusable: true,
    inputs: ({ dataset, job }) => ({ dataset, features: job.features, slices: job.evaluation.slices }),
    async execute({ dataset, job }, _details, inputHash) {
      const { manifest } = await getDatasetVersion(dependencies.datasets, dataset.name, dataset.version);
      return prepareFeatures({ manifest, job, objects: dependencies.objects, inputHash });
    },
  };
}
