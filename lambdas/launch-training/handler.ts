import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { taskTokens } from "../../adapters/stepfunctions/executions";
import { runs } from "../../adapters/team-runs";
import { trainingFailed } from "../../core/runs/errors";
import { beginTraining } from "../../core/training/begin-training";
import { beginEvaluation } from "../../core/training/evaluation-job";
import { type StepEvent, stepHandler } from "../step-handler";

interface LaunchEvent extends StepEvent {
  /** Hash of the inputs of the evaluation that a job computes. Absent: the run's training. */
  readonly evaluation?: string;
}

/**
 * Starts the run's training, or its evaluation, in Batch. The task token is answered when the work ends, or at once where the output
 * is known.
 */
export const handler = stepHandler(
  {
    datasets: datasets("read"),
    runs: runs("details", "steps", "produce", "attempts"),
    cache: stepCache("read", "write"),
    metrics: metrics("write"),
    objects: teamObjects("read", "write"),
    jobs: trainingJobs("look", "definitions", "submit", "terminate"),
    tokens: taskTokens("answer"),
    runEvents: platformEvents(),
    meter: meter(),
  },
  async (ports, { runId, taskToken, evaluation }: LaunchEvent) => {
    if (taskToken === undefined) throw trainingFailed("BAD_EVENT", "launch-training was invoked without a task token");
    if (evaluation !== undefined) return beginEvaluation(ports, runId, taskToken, evaluation);
    return beginTraining(ports, runId, taskToken);
  },
);
