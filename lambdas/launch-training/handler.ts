import { isoTime } from "../../core/clock";
import { beginStep, finishStep, inputHashOf } from "../../core/pipelines/step";
import { TrainingFailedError } from "../../core/training/errors";
import { finishTraining } from "../../core/training/finish";
import { launchAttempt, nextAttempt } from "../../core/training/launch";
import { trainingKeys, trainingStep, trainingTaskOf } from "../../core/training/training-step";
import { stepHandler } from "../step-handler";

/** Starts the run's training in Batch and leaves the task token for whoever sees it end; answers at once where the output is known. */
export const handler = stepHandler(async (platform, { runId, taskToken }) => {
  const { runs, cache, clock, objects, tokens } = platform;
  if (taskToken === undefined)
    throw new TrainingFailedError("BAD_EVENT", "launch-training was invoked without a task token");
  const details = await beginStep(platform, runId, "LaunchTraining");
  await runs.putTaskToken(runId, "LaunchTraining", taskToken);

  const inputHash = inputHashOf(trainingStep, details);
  const known = details.run.noCache ? undefined : await cache.find("LaunchTraining", inputHash);
  if (known && details.attempts.length === 0) {
    await finishStep(platform, runId, trainingStep, inputHash, known, isoTime(clock));
    await tokens.succeed(taskToken, { runId });
    return { reusedFrom: known.runId };
  }

  await objects.putNew(trainingKeys(runId).task, JSON.stringify(trainingTaskOf(details)), "application/json");
  if (details.attempts.some((attempt) => attempt.jobId !== undefined)) {
    // Invoked again: the job may have ended in between, when there was no token to answer.
    return { move: await finishTraining(platform, runId) };
  }
  const attempt = await launchAttempt(platform, details.run, nextAttempt(details));
  return { attempt: attempt?.attempt, jobId: attempt?.jobId };
});
