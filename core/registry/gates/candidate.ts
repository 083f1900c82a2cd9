import type { Champion } from "../../evaluation/champion";
import { type EvaluationOutput, evaluationKind } from "../../evaluation/shapes";
import type { ObjectStore } from "../../ports";
import type { Job } from "../../runs/job";
import type { RunRepository } from "../../runs/run-repository";
import { findOutput } from "../../runs/step";
import { type TrainingOutput, trainingKind } from "../../runs/training-task";
import { readArtifact } from "../artifact";
import type { Model, ModelVersion } from "../model";
import type { Registry } from "../registry";

export interface Candidate {
  readonly model: Model;
  readonly version: ModelVersion;
  /** Absent if it was registered from elsewhere. */
  readonly outputs: RunOutputs | undefined;
  /** Whether the evaluation of its run must have compared with the present champion. */
  readonly mustBeCurrent: boolean;
}

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
  const evaluation = details && findOutput(details, evaluationKind);
  if (!evaluation) return undefined;
  return { job: details.run.job, evaluation, training: findOutput(details, trainingKind) };
}

/** Returns the champion to compare; `undefined` if there is none or it cannot be loaded here. */
export async function findChampion(
  { registry, objects }: { readonly registry: Registry; readonly objects: ObjectStore },
  model: string,
): Promise<Champion | undefined> {
  const head = await registry.repository.find(model);
  if (head?.production === undefined) return undefined;
  const production = await registry.version(model, head.production);
  const { version, artifactKey } = production;
  const artifact = await readArtifact(objects, production);
  return artifactKey === undefined || artifact === undefined ? undefined : { version, artifactKey, artifact };
}
