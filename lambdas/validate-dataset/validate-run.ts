import type { DataContractEvents } from "../../core/datasets/contract/blocked";
import {
  blockedRun,
  contractOfRun,
  type DataContractRepository,
  dataContractViolated,
} from "../../core/datasets/contract/stored";
import type { DatasetRepository } from "../../core/datasets/repository";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { type ValidationOutput, validationStep } from "../../core/datasets/validation";
import { RingmasterError } from "../../core/errors";
import type { ObjectStore } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import type { RoundTask } from "../../core/runs/rounds";
import { runStep, type StepDependencies, type StepResult } from "../../core/runs/step";
import { validateDataset } from "./validate";

export interface ValidateRunPorts extends StepDependencies {
  readonly datasets: DatasetRepository;
  readonly dataContracts: DataContractRepository;
  readonly objects: ObjectStore;
  readonly runEvents: DataContractEvents;
}

/**
 * Validates the version of a run under the dataset's current data contract. The step's record has the violations before
 * the run is refused.
 *
 * @param task the part that this call computes, of a large version
 * @throws DATA_CONTRACT_VIOLATED if a rule blocks, after the event was accepted; RoundPending, TaskDone
 */
export async function validateRun(
  ports: ValidateRunPorts,
  runId: string,
  task?: RoundTask,
): Promise<StepResult<ValidationOutput>> {
  const { datasets, dataContracts: contracts, objects, runs, runEvents } = ports;
  const run = await runs.find(runId);
  if (!run) throw runNotFound(runId);
  const contract = await contractOfRun({ datasets, contracts }, run);
  const validate = (manifest: DatasetManifest, inputHash: string) =>
    validateDataset({ manifest, objects, contract, inputHash, task });
  const step = validationStep(ports, validate, contract);
  const result = await runStep(ports, runId, step);
  const { rowCount: rows, contract: found } = result.output;
  if (found?.status !== "blocked") return result;
  await published(() => runEvents.publishDataContractBlocked(blockedRun(run, found, rows)));
  const { name, version } = run.dataset;
  throw dataContractViolated(`dataset ${name}@${version}`, { ...found, rows });
}

/** Makes a failed publication an error that the state machine retries: the event must not be lost. */
async function published(publish: () => Promise<void>): Promise<void> {
  try {
    await publish();
  } catch (cause) {
    const message = `the event that a data contract blocked the run was not accepted (${(cause as Error).message}); it is sent again`;
    throw new RingmasterError(message, { code: "EVENT_NOT_ACCEPTED", httpStatus: 503, retryable: true, cause });
  }
}
