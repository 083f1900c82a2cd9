import { getDatasetVersion } from "../../core/datasets/reference";
import type { DatasetRepository } from "../../core/datasets/repository";
import type { ValidationOutput } from "../../core/pipelines/outputs";
import type { StepDefinition } from "../../core/pipelines/step";
import type { ObjectStore } from "../../core/ports";
import { validateDataset } from "./validate";

export function validationStep(dependencies: {
  readonly datasets: DatasetRepository;
  readonly objects: ObjectStore;
}): StepDefinition<ValidationOutput> {
  return {
    step: "ValidateDataset",
    version: 1,
    reusable: true,
    inputs: (run) => ({ dataset: run.dataset }),
    async execute(run) {
      const { manifest } = await getDatasetVersion(dependencies.datasets, run.dataset.name, run.dataset.version);
      return validateDataset({ manifest, objects: dependencies.objects });
    },
  };
}
