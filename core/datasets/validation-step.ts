import type { StepDefinition } from "../runs/step";
import type { ContentReference, Warning } from "../shapes";
import { getDatasetVersion } from "./reference";
import type { DatasetRepository } from "./repository";
import type { DatasetManifest } from "./shapes";

/** Output of the step `ValidateDataset`. */
export interface ValidationOutput {
  readonly rowCount: number;
  /** Profile by column, JSON in the content store. */
  readonly profile: ContentReference;
  readonly warnings: readonly Warning[];
}

/** Validates a version once for all runs. Trusts no claim of a push. @param validate does the I/O */
export function validationStep(
  { datasets }: { readonly datasets: DatasetRepository },
  validate: (manifest: DatasetManifest) => Promise<ValidationOutput>,
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
