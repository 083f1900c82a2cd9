import { isoTime } from "../clock";
import { createJson } from "../object-documents";
import type { NextMove } from "../runs/attempts";
import { beginStep, finishStep, inputHashOf } from "../runs/step";
import { type CopyPorts, copyTrainingMetrics } from "../tracking/copy-metrics";
import { type FinishDependencies, finishTraining } from "./finish";
import { launchAttempt, nextAttempt } from "./launch";
import { trainingKeys, trainingStep, trainingTaskOf } from "./training-step";

export interface BeginDependencies extends FinishDependencies {
  readonly metrics: CopyPorts;
}

export type TrainingBegun =
  | { readonly reusedFrom: string }
  | { readonly attempt: number | undefined; readonly jobId: string | undefined }
  | { readonly move: NextMove["move"] };

/**
 * Starts a run's training in Batch and leaves the task token for whoever sees it end; answers at once where the output is known. Invoked
 * again, because the state machine heard nothing of the first time or missed heartbeats, it goes on with what is under way.
 */
export async function beginTraining(
  dependencies: BeginDependencies,
  runId: string,
  taskToken: string,
): Promise<TrainingBegun> {
  const { runs, cache, clock, objects, tokens } = dependencies;
  const details = await beginStep(dependencies, runId, "LaunchTraining");
  await runs.putTaskToken(runId, "LaunchTraining", taskToken);

  const inputHash = inputHashOf(trainingStep, details);
  const known = details.run.noCache ? undefined : await cache.find("LaunchTraining", inputHash);
  if (known && details.attempts.length === 0) {
    // Before the step's record: a run whose training counts as done has all of its metrics.
    await copyTrainingMetrics(dependencies.metrics, known.runId, runId);
    await finishStep(dependencies, runId, trainingStep, inputHash, known, isoTime(clock));
    await tokens.succeed(taskToken, { runId });
    return { reusedFrom: known.runId };
  }

  await createJson(objects, trainingKeys(runId).task, trainingTaskOf(details));
  // The job may have ended in between, when there was no token to answer.
  if (details.attempts.length > 0) return { move: await finishTraining(dependencies, runId) };
  const attempt = await launchAttempt(dependencies, details.run, nextAttempt(details));
  return { attempt: attempt?.attempt, jobId: attempt?.jobId };
}
