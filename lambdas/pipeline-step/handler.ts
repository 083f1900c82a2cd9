import { randomBytes } from "node:crypto";
import type { EventBridgeEvent } from "aws-lambda";
import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { registryReads } from "../../adapters/dynamodb/model-repository";
import { pipelineIndex, pipelines } from "../../adapters/dynamodb/pipeline-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { contentUrls } from "../../adapters/s3/content-urls";
import { teamObjects } from "../../adapters/s3/object-store";
import { executions, taskTokens } from "../../adapters/stepfunctions/executions";
import { runs } from "../../adapters/team-runs";
import { RingmasterError } from "../../core/errors";
import { beginStep, type Resolved } from "../../core/pipelines/begin-step";
import { endStep, type StepEnd } from "../../core/pipelines/end-step";
import type { PipelineEnded } from "../../core/pipelines/ports";
import type { StepReference } from "../../core/pipelines/records";
import { pipelinePorts } from "../../core/pipelines/start";
import { sweepPipelines } from "../../core/pipelines/sweep";
import { launchStep, settleWait } from "../../core/pipelines/waits";
import type { RunEnded } from "../../core/training/run-ended";
import { functionHandler } from "../function-handler";
import { endOfCall, type StepCall, withCall } from "./calls";

interface StateError {
  readonly Error?: string;
  readonly Cause?: string;
}

type StepEvent = { readonly step: StepReference & { readonly team: string } } & (
  | { readonly op: "begin"; readonly polls?: number }
  | { readonly op: "launch"; readonly attempt: number; readonly resolved: Resolved; readonly taskToken: string }
  | {
      readonly op: "end";
      readonly attempt: number;
      readonly end?: StepEnd;
      readonly kind?: StepCall["kind"];
      readonly result?: unknown;
      readonly error?: StateError;
    }
);

type PipelineEvent =
  | StepEvent
  | EventBridgeEvent<"Scheduled Event", unknown>
  | EventBridgeEvent<"Training Run Ended", RunEnded>
  | EventBridgeEvent<"Pipeline Run Ended", PipelineEnded>;

/** Begins, launches and ends steps for their executions, and continues steps whose run has ended. */
export const handler = functionHandler(
  {
    shared: {
      pipelineIndex: pipelineIndex("list"),
      executions: executions("start", "stop", "status"),
      tokens: taskTokens("answer"),
      runEvents: platformEvents("publish"),
      jobs: trainingJobs("look", "terminate"),
      meter: meter(),
    },
    team: {
      pipelines: pipelines("read", "write"),
      runs: runs("details", "steps", "create", "end", "attempts"),
      datasets: datasets("read", "resolve"),
      registry: registryReads(),
      objects: teamObjects("read", "write"),
      contentUrls: contentUrls("download"),
    },
  },
  async ({ pipelineIndex, forTeam, logger }, event: PipelineEvent) => {
    const ofTeam = (team: string) =>
      pipelinePorts({ ...forTeam(team), logger, randomId: () => randomBytes(8).toString("hex") });
    if ("detail-type" in event) {
      if (event["detail-type"] === "Scheduled Event") return sweepPipelines(pipelineIndex, ofTeam);
      const { detail } = event;
      const [kind, id] =
        "runId" in detail ? (["run", detail.runId] as const) : (["pipeline", detail.pipelineRunId] as const);
      return settleWait(ofTeam(detail.team), kind, id);
    }
    const { team, ...reference } = event.step;
    const dependencies = ofTeam(team);
    try {
      if (event.op === "begin")
        return await withCall(dependencies, reference, await beginStep(dependencies, reference, event.polls));
      if (event.op === "launch")
        return await launchStep(dependencies, reference, event.taskToken, event.attempt, event.resolved);
      const { retryAfter } = await endStep(dependencies, reference, endOf(event), event.attempt);
      return retryAfter === undefined ? {} : { seconds: retryAfter };
    } catch (error) {
      logger.log("error", "a step cannot be processed", { team, ...reference, op: event.op, error });
      // The state machine retries this name.
      if (error instanceof RingmasterError && error.retryable) error.name = "RETRYABLE";
      throw error;
    }
  },
);

function endOf({ end, kind, result, error }: StepEvent & { readonly op: "end" }): StepEnd {
  if (error) {
    const message =
      error.Error === "States.Timeout" ? "the step exceeded its time limit (minutes)" : messageOf(error.Cause);
    return {
      status: "failed",
      failure: { code: error.Error === "States.Timeout" ? "TIME_LIMIT" : (error.Error ?? "UNKNOWN"), message },
    };
  }
  return end ?? endOfCall(kind ?? "lambda", result);
}

function messageOf(cause = "the service reported no cause"): string {
  try {
    const { errorMessage } = JSON.parse(cause) as { errorMessage?: unknown };
    return typeof errorMessage === "string" ? errorMessage : cause;
  } catch {
    return cause;
  }
}
