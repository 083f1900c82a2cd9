import type { EvaluationOutput } from "../../evaluation/shapes";
import type { Job } from "../../runs/job";
import type { RunRepository } from "../../runs/run-repository";
import { findOutput } from "../../runs/step";
import type { TrainingOutput } from "../../runs/training-task";
import type { Model, ModelVersion } from "../model";

/** A version on which the gates decide. */
export interface Candidate {
  readonly model: Model;
  readonly version: ModelVersion;
  /** Absent if it was registered from elsewhere. */
  readonly outputs: RunOutputs | undefined;
  /** Whether the evaluation of its run must have compared with the present champion. */
  readonly mustBeCurrent: boolean;
}

/** The job of the training run that made a version, and the outputs of the run's steps. */
export interface RunOutputs {
  readonly job: Job;
  readonly evaluation: EvaluationOutput;
  readonly training: TrainingOutput | undefined;
}

/** Returns the outputs of the training that made the version; `undefined` if it was registered from elsewhere. */
export async function runOutputsOf(
  runs: Pick<RunRepository, "findDetails">,
  { runId, artifactKey }: ModelVersion,
): Promise<RunOutputs | undefined> {
  if (runId === undefined || artifactKey === undefined) return undefined;
  const details = await runs.findDetails(runId);
  const evaluation = details && findOutput<EvaluationOutput>(details, "Evaluate");
  if (!evaluation) return undefined;
  return { job: details.run.job, evaluation, training: findOutput<TrainingOutput>(details, "LaunchTraining") };
}
