import type { Context } from "aws-lambda";
import { createPlatform, type Platform } from "../../adapters/platform";
import { reconcile } from "../../core/training/reconcile";

let platform: Platform | undefined;

/** Each minute: looks after every open run. One run's trouble does not keep the others waiting. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  platform ??= createPlatform();
  const logger = platform.logger.with({ requestId: context.awsRequestId });
  for (const run of await platform.runs.listOpen()) {
    try {
      logger.log("debug", "reconciled", { runId: run.runId, state: await reconcile(platform, run) });
    } catch (error) {
      logger.log("error", "cannot reconcile", { runId: run.runId, error });
    }
  }
}
