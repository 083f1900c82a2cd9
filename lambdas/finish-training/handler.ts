import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { closeInterruptedRun } from "../../core/training/close-run";
import { takeJobEvent } from "../../core/training/job-event";
import { takeSpotNotice } from "../../core/training/spot-notice";
import { type FinishEvent, readJobEvent } from "./events";

let deployment: Deployment | undefined;

/**
 * Handles the ends of trainers' jobs and executions: answers the state machine, retries, or ends the remaining work of
 * a stopped execution.
 */
export async function handler(event: FinishEvent, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  if (event["detail-type"] === "Batch Job State Change") {
    const read = readJobEvent(event.detail);
    const team = read && (await deployment.teamOf(read.runId));
    if (!team) return;
    const move = await takeJobEvent(deployment.forTeam(team), team, read);
    if (move) logger.log("info", "training looked at", { runId: read.runId, job: event.detail.jobId, move });
    return;
  }
  if (event["detail-type"] === "EC2 Spot Instance Interruption Warning") {
    const noted = await takeSpotNotice(deployment, event.detail["instance-id"], new Date(event.time).toISOString());
    for (const use of noted) logger.log("warn", "spot interruption announced", { ...use });
    return;
  }
  const { name, status, error, cause } = event.detail;
  if (status === "ABORTED" || status === "FAILED" || status === "TIMED_OUT") {
    const team = await deployment.teamOf(name);
    if (team === undefined) return;
    await closeInterruptedRun(deployment.forTeam(team), name, status, error ?? undefined, cause ?? undefined);
    logger.log("info", "execution ended", { runId: name, status });
  }
}
