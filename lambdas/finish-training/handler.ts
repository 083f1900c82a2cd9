import type { Context } from "aws-lambda";
import { createPlatform, type Platform } from "../../adapters/platform";
import { concludeInterrupted, finishTraining } from "../../core/training/finish";
import { type FinishEvent, readJobEvent } from "./events";

let platform: Platform | undefined;

/** Sees trainers' jobs and executions end: answers the state machine, tries again, or ends what a stopped execution left running. */
export async function handler(event: FinishEvent, context: Context): Promise<void> {
  platform ??= createPlatform();
  const logger = platform.logger.with({ requestId: context.awsRequestId });
  if (event["detail-type"] === "Batch Job State Change") {
    const read = readJobEvent(event.detail);
    if (!read) return;
    if (read.worker) await platform.runs.recordWorker(read.runId, read.worker);
    if (event.detail.status === "SUCCEEDED" || event.detail.status === "FAILED") {
      const move = await finishTraining(platform, read.runId);
      logger.log("info", "training looked at", { runId: read.runId, job: event.detail.jobId, move });
    }
    return;
  }
  const { name, status, error, cause } = event.detail;
  if (status === "ABORTED" || status === "FAILED" || status === "TIMED_OUT") {
    await concludeInterrupted(platform, name, status, error ?? undefined, cause ?? undefined);
    logger.log("info", "execution ended", { runId: name, status });
  }
}
