import { CorruptObjectError, findJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import { isoTime } from "../ports";
import type { NextMove } from "../runs/attempts";
import type { RunDetails } from "../runs/shapes";
import { finishStep, inputHashOf } from "../runs/step";
import { type TrainingResult, trainingPause, trainingResult } from "../runs/training-task";
import { workSince } from "../runs/usage";
import { completeAttempt } from "./complete-attempt";
import { takeInFiles } from "./evaluation-job";
import { attemptsOfSegment } from "./launch";
import { makeNextMove, type NextMoveDependencies } from "./next-move";
import { finishPause } from "./pause";
import { trainingKeys, trainingOutputOf, trainingStep } from "./training-step";

/**
 * Inspects a run's training and continues it: answers the state machine, submits the next attempt, or waits. Called on
 * every event of its job and every minute. Idempotent, and independent of the order of events.
 * @param options.read the run as the caller has just read it
 * @param options.isLast no further attempt starts
 */
export async function completeTraining(
  dependencies: NextMoveDependencies,
  runId: string,
  { read, isLast }: { readonly read?: RunDetails | undefined; readonly isLast?: boolean } = {},
): Promise<NextMove["move"]> {
  const { runs, objects, tokens, clock } = dependencies;
  const details = read ?? (await runs.findDetails(runId));
  if (!details) return "wait";
  const keys = trainingKeys(runId, details.run.segment);
  return makeNextMove(dependencies, details, {
    phase: "LaunchTraining",
    attempts: attemptsOfSegment(details),
    isLast,
    failureKey: keys.failure,
    async findResult(attempt, waiting) {
      const succeeded = () => completeAttempt(dependencies, details, attempt, { status: "succeeded" }, "batch");
      const result = await findJson(objects, keys.result, trainingResult);
      if (result) {
        if (result.runId !== runId)
          throw new CorruptObjectError(keys.result, `a result of ${runId}`, `one of ${result.runId}`);
        return async () => {
          const { weights, topology, files = [] } = result;
          await takeInFiles(objects, [weights, topology, ...files], (sha256) => objectKeys.trainingFile(runId, sha256));
          await succeeded();
          for (const warning of result.warnings ?? []) await runs.recordWarning(runId, warning);
          await recordResult(dependencies, details, result, workSince(details, attempt));
          await Promise.all(waiting.map((token) => tokens.succeed(token, { runId })));
        };
      }
      if (!(await findJson(objects, keys.pause, trainingPause))) return undefined;
      return async () => {
        await succeeded();
        const { segment = 0 } = details.run;
        if (await runs.pause(runId, { segment, at: isoTime(clock) })) await finishPause(dependencies, runId);
      };
    },
  });
}

async function recordResult(
  dependencies: NextMoveDependencies,
  details: RunDetails,
  result: TrainingResult,
  startedAt: string,
): Promise<void> {
  const { runId } = details.run;
  const inputHash = inputHashOf(trainingStep, details);
  const isDone = details.steps.some((record) => record.step === trainingStep.step && record.inputHash === inputHash);
  if (isDone) return;
  const output = trainingOutputOf(result);
  await dependencies.cache.keep("LaunchTraining", inputHash, { runId, output, at: isoTime(dependencies.clock) });
  await finishStep(dependencies, runId, trainingStep, inputHash, { runId, output }, startedAt);
}
