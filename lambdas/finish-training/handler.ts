import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { sharedJobs } from "../../adapters/dynamodb/shared-jobs";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { executions, taskTokens } from "../../adapters/stepfunctions/executions";
import { openRuns, runs } from "../../adapters/team-runs";
import { parseSegmentName } from "../../core/runs/ports";
import { closeInterruptedRun } from "../../core/training/close-run";
import { endSharedJob } from "../../core/training/continue-job";
import { takeJobEvent, takeSpotNotice } from "../../core/training/job-event";
import { functionHandler } from "../function-handler";
import { type FinishEvent, readJobEvent } from "./events";

/** Ends of jobs and executions, and spot notices: answers the state machine, starts attempts, closes runs. */
export const handler = functionHandler(
  {
    shared: {
      identities: runIdentities("read"),
      openRuns: openRuns("instances"),
      jobs: trainingJobs("look", "submit", "terminate"),
      tokens: taskTokens("answer"),
      executions: executions("stop"),
      runEvents: platformEvents("publish"),
      meter: meter(),
      sharedJobs: sharedJobs("find", "remove"),
    },
    team: {
      runs: runs("details", "steps", "produce", "attempts", "report", "end"),
      cache: stepCache("read", "write"),
      objects: teamObjects("read", "write", "upload"),
    },
  },
  async (ports, event: FinishEvent) => {
    const { identities, openRuns, forTeam, logger } = ports;
    if (event["detail-type"] === "Batch Job State Change") {
      const read = readJobEvent(event.detail);
      const team = read && (await identities.teamOf(read.runId));
      if (!team) return;
      const move = await takeJobEvent(forTeam(team), team, read);
      if (move) logger.log("info", "training looked at", { runId: read.runId, job: event.detail.jobId, move });
      if (read.ended) await endSharedJob(forTeam(team), event.detail.jobId, read.runId);
      return;
    }
    if (event["detail-type"] === "EC2 Spot Instance Interruption Warning") {
      const notice = { ...ports, ...openRuns, teamOf: identities.teamOf };
      const noted = await takeSpotNotice(notice, event.detail["instance-id"], new Date(event.time).toISOString());
      for (const use of noted) logger.log("warn", "spot interruption announced", { ...use });
      return;
    }
    const { name, status, error, cause } = event.detail;
    if (status === "ABORTED" || status === "FAILED" || status === "TIMED_OUT") {
      const ended = parseSegmentName(name);
      const team = await identities.teamOf(ended.runId);
      if (team === undefined) return;
      await closeInterruptedRun(forTeam(team), ended, status, error ?? undefined, cause ?? undefined);
      logger.log("info", "execution ended", { runId: ended.runId, status });
    }
  },
);
