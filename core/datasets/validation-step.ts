import type { StepDefinition } from "../runs/step";
import type { ContentReference, Warning } from "../shapes";
import type { ContractSummary } from "./contract/report";
import { type AppliedContract, inputsOf } from "./contract/stored";
import { getDatasetVersion } from "./reference";
import type { DatasetRepository } from "./repository";
import type { DatasetManifest } from "./shapes";

/** Output of the step `ValidateDataset`. */
export interface ValidationOutput {
  readonly rowCount: number;
  /** Profile by column, JSON in the content store. */
  readonly profile: ContentReference;
  readonly warnings: readonly Warning[];
  /** Result of the dataset's data contract; absent if it had none. The caller refuses the run if it blocks. */
  readonly contract?: ContractSummary;
}

/**
 * Validates a version once for all runs under the same data contract. Trusts no claim of a push.
 *
 * @param validate does the I/O
 */
export function validationStep(
  { datasets }: { readonly datasets: DatasetRepository },
  validate: (manifest: DatasetManifest, inputHash: string) => Promise<ValidationOutput>,
  contract?: AppliedContract,
): StepDefinition<ValidationOutput> {
  return {
    step: "ValidateDataset",
    version: 1,
    reusable: true,
    inputs: ({ dataset }) => ({
      ...{ name: dataset.name, digest: dataset.digest },
      ...(contract ? { contract: inputsOf(contract) } : {}),
    }),
    async execute({ dataset: { name, version } }, _details, inputHash) {
      const output = await validate((await getDatasetVersion(datasets, name, version)).manifest, inputHash);
      await datasets.recordWarnings(name, version, output.warnings);
      return output;
    },
  };
}
