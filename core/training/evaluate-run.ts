import type { Champion } from "../evaluation/champion";
import { containerOf } from "../evaluation/container-model";
import type { EvaluationOutput } from "../evaluation/shapes";
import { type EvaluationDependencies, evaluationStep, evaluationTaskOf } from "../evaluation/step";
import { type CountOperations, type EvaluationTask, evaluateTask, evaluationResult } from "../evaluation/task";
import { featureManifest } from "../features/shapes";
import { findJson, getJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import type { RunDetails } from "../runs/shapes";
import { executeStep, openStep, type StepDependencies, type StepResult } from "../runs/step";
import { takeInEvaluation } from "./evaluation-job";

export interface EvaluateRunDependencies extends StepDependencies, EvaluationDependencies {
  /** Multiply-adds above which a job evaluates. */
  readonly maxOperations: number;
  readonly operationsPerRow: CountOperations;
}

/**
 * Evaluates a run that the caller has just read, or reuses an evaluation. A large evaluation is a job's: its task is stored, and the result is `job`, the
 * hash of its inputs. Once the job's result exists, it is recorded as the step's output.
 */
export async function evaluateHereOrInJob(
  dependencies: EvaluateRunDependencies,
  read: RunDetails,
  champion: Champion | undefined,
): Promise<StepResult<EvaluationOutput> | { readonly job: string }> {
  const { objects, datasets, maxOperations, operationsPerRow } = dependencies;
  const step = evaluationStep(dependencies, champion);
  const { runId } = read.run;
  const open = await openStep(dependencies, runId, step, read);
  if (open.known) return open.known;
  const { inputHash } = open;
  const result = await findJson(objects, objectKeys.evaluationResult(runId, inputHash), evaluationResult);
  if (result) {
    const job = open.details.attempts.find(({ evaluation }) => evaluation === inputHash);
    const takeIn = { ...step, execute: () => takeInEvaluation(objects, result) };
    return executeStep(dependencies, takeIn, { ...open, startedAt: job?.startedAt ?? open.startedAt });
  }
  const task = await evaluationTaskOf(datasets, open.details, champion);
  if (
    maxOperations < Number.POSITIVE_INFINITY &&
    (await evaluationOperations(objects, task, operationsPerRow)) > maxOperations
  ) {
    // The first write stays: an equal hash has an equal task.
    const topology = new TextDecoder().decode(await objects.getContent(task.model.topology.sha256));
    const counted = { ...task, operations: await operationsOf(topology, operationsPerRow) };
    await objects.putNew(objectKeys.evaluationTask(runId, inputHash), JSON.stringify(counted), "application/json");
    return { job: inputHash };
  }
  return executeStep(dependencies, { ...step, execute: () => evaluateTask(dependencies, task) }, open);
}

/** Multiply-adds of a row without its model. It also bounds the rows, and so the memory, of a function's evaluation. */
const operationsPerRow = 100_000;

const operationsOf = async (topology: string, count: CountOperations): Promise<number> =>
  containerOf(topology) ? 0 : count(topology);

/** Size of weights that a function has no memory for, next to its rows. */
const maxWeightBytes = 2 ** 29;

/**
 * Estimates the multiply-adds of an evaluation: every row that the model or the champion predicts. The splits' rows are
 * those of the same dataset version, so they are the champion's rows too. Infinite for a model that is too large to load.
 */
async function evaluationOperations(
  objects: Pick<ObjectStore, "getContent" | "find">,
  { featureManifestKey, model, opponent, settings, validates = false }: EvaluationTask,
  count: CountOperations,
): Promise<number> {
  const models = [model, ...(opponent ? [opponent.champion.artifact] : [])];
  if (models.some(({ weights }) => weights.bytes > maxWeightBytes)) return Number.POSITIVE_INFINITY;
  const { splits } = await getJson(objects, featureManifestKey, featureManifest);
  const topologyOf = async (sha256: string) => new TextDecoder().decode(await objects.getContent(sha256));
  const ofModel = async ({ sha256 }: { readonly sha256: string }) =>
    operationsPerRow + (await operationsOf(await topologyOf(sha256), count));
  const choosesThreshold = settings.threshold !== undefined && typeof settings.threshold !== "number";
  const predicted = splits.test.rows + (Number(choosesThreshold) + Number(validates)) * splits.validation.rows;
  const operations = predicted * (await ofModel(model.topology));
  return opponent ? operations + splits.test.rows * (await ofModel(opponent.champion.artifact.topology)) : operations;
}
