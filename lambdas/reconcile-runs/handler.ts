import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { reconcile } from "../../core/training/reconcile";

let deployment: Deployment | undefined;

/** Each minute: looks after every open run. One run's trouble does not keep the others waiting. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  for (const run of await deployment.listOpenRuns()) {
    try {
      const state = await reconcile(deployment.forTeam(run.team), run);
      logger.log("debug", "reconciled", { runId: run.runId, state });
    } catch (error) {
      logger.log("error", "cannot reconcile", { runId: run.runId, error });
    }
  }
}
