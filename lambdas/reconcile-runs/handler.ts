import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { reconcileAll } from "../../core/training/reconcile-all";

let deployment: Deployment | undefined;

/** Time that is kept for what is under way when no more runs are begun: a run takes half a second of calls, a slow service some more. */
const reserveMs = 10_000;

/** Each minute: looks after every open run, and measures how many are where. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const { clock, meter, forTeam, listOpenRuns } = deployment;
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  await reconcileAll(await listOpenRuns(), {
    forTeam,
    meter,
    clock,
    until: clock.now() + context.getRemainingTimeInMillis() - reserveMs,
    onDone: (runId, state) => logger.log("debug", "reconciled", { runId, state }),
    onError: (runId, error) => logger.log("error", "cannot reconcile", { runId, error }),
  });
}
