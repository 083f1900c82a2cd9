import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { taskTokens } from "../../adapters/stepfunctions/task-tokens";
import { runs } from "../../adapters/team-runs";
import { TrainingFailedError } from "../../core/runs/errors";
import { beginTraining } from "../../core/training/begin-training";
import { stepHandler } from "../step-handler";

/** Starts the run's training in Batch. The task token is answered when the training ends, or at once where the output is known. */
export const handler = stepHandler(
  {
    runs: runs("details", "steps", "produce", "attempts"),
    cache: stepCache("read", "write"),
    metrics: metrics("write"),
    objects: teamObjects("read", "write"),
    jobs: trainingJobs("look", "definitions", "submit", "terminate"),
    tokens: taskTokens("answer"),
    runEvents: platformEvents(),
    meter: meter(),
  },
  async (ports, { runId, taskToken }) => {
    if (taskToken === undefined)
      throw new TrainingFailedError("BAD_EVENT", "launch-training was invoked without a task token");
    return beginTraining(ports, runId, taskToken);
  },
);
