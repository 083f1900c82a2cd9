import { TrainingFailedError } from "../../core/runs/errors";
import { beginTraining } from "../../core/training/begin-training";
import { stepHandler } from "../step-handler";

/**
 * Starts the run's training in Batch and stores the task token for the process that sees its end. Answers immediately
 * if the output is known.
 */
export const handler = stepHandler(async (platform, { runId, taskToken }) => {
  if (taskToken === undefined)
    throw new TrainingFailedError("BAD_EVENT", "launch-training was invoked without a task token");
  return beginTraining(platform, runId, taskToken);
});
