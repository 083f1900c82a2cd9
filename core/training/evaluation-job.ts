import type { EvaluationOutput } from "../evaluation/shapes";
import { type EvaluationResult, evaluationResult } from "../evaluation/task";
import { CorruptObjectError, findJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import type { NextMove } from "../runs/attempts";
import type { RunDetails, TrainingAttempt } from "../runs/shapes";
import { beginStep } from "../runs/step";
import type { ContentReference } from "../shapes";
import { completeAttempt } from "./complete-attempt";
import { launchNext } from "./launch";
import { makeNextMove, type NextMoveDependencies } from "./next-move";

type EvaluationBegun =
  | { readonly attempt: number | undefined; readonly jobId: string | undefined }
  | { readonly move: NextMove["move"] };

/**
 * Starts a run's evaluation in Batch and stores the task token for the process that sees its end. If it is invoked
 * again, it continues the running evaluation.
 * @param inputHash hash of the evaluation's inputs, whose task is stored
 */
export async function beginEvaluation(
  dependencies: NextMoveDependencies,
  runId: string,
  taskToken: string,
  inputHash: string,
): Promise<EvaluationBegun> {
  const { runs } = dependencies;
  const details = await beginStep(dependencies, runId, "Evaluate");
  await runs.putTaskToken(runId, "Evaluate", taskToken);
  // The job may have ended before the token was stored.
  if (attemptsAt(details, inputHash).length > 0) return { move: await completeEvaluation(dependencies, runId) };
  return launchNext(dependencies, details, inputHash);
}

/**
 * Like `completeTraining`, for an evaluation. The state machine then calls `evaluate` again, which records the result.
 */
export async function completeEvaluation(dependencies: NextMoveDependencies, runId: string): Promise<NextMove["move"]> {
  const { runs, objects, tokens } = dependencies;
  const details = await runs.findDetails(runId);
  const inputHash = details?.attempts.at(-1)?.evaluation;
  if (!details || inputHash === undefined) return "wait";
  return makeNextMove(dependencies, details, {
    phase: "Evaluate",
    attempts: attemptsAt(details, inputHash),
    failureKey: (jobId) => objectKeys.evaluationFailure(runId, inputHash, jobId),
    async findResult(attempt, waiting) {
      const result = await findJson(objects, objectKeys.evaluationResult(runId, inputHash), evaluationResult);
      if (!result) return undefined;
      return async () => {
        const machines = result.machine ? [...details.machines, result.machine] : details.machines;
        await completeAttempt(dependencies, { ...details, machines }, attempt, { status: "succeeded" }, "batch");
        await Promise.all(waiting.map((token) => tokens.succeed(token, { runId })));
      };
    },
  });
}

const attemptsAt = ({ attempts }: RunDetails, inputHash: string): readonly TrainingAttempt[] =>
  attempts.filter(({ evaluation }) => evaluation === inputHash);

/**
 * Copies the files of a job's evaluation to the content store, and returns its output. Idempotent.
 * @throws CorruptObjectError if a file is missing or damaged
 */
export async function takeInEvaluation(
  objects: ObjectStore,
  { runId, output, files }: EvaluationResult,
): Promise<EvaluationOutput> {
  await takeInFiles(objects, files, (sha256) => objectKeys.evaluationFile(runId, sha256));
  return output;
}

/** Copies files to the content store, where jobs cannot write. Idempotent. @throws CorruptObjectError */
export async function takeInFiles(
  objects: ObjectStore,
  files: readonly ContentReference[],
  keyOf: (sha256: string) => string,
): Promise<void> {
  for (const content of files) {
    const key = keyOf(content.sha256);
    if ((await objects.copyContent(content, key)) || (await objects.hasContent(content, "by-checksum"))) continue;
    throw new CorruptObjectError(key, `SHA-256 ${content.sha256}`, "missing or damaged");
  }
}
