import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { sweepOutbox } from "../../core/registry/sweep-outbox";
import { reconcileAll } from "../../core/training/reconcile-all";

let deployment: Deployment | undefined;

/** Time that is reserved for running work. A run needs half a second of calls, and more with a slow service. */
const reserveMs = 10_000;

/**
 * Runs every minute: publishes changes of models that are not published yet, reconciles every open run, and measures
 * the number of runs by state.
 */
export async function handler(_event: unknown, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const { clock, meter, forTeam, listOpenRuns, outboxIndex } = deployment;
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  const until = clock.now() + context.getRemainingTimeInMillis() - reserveMs;
  await sweepOutbox(outboxIndex, {
    outboxOf: (team) => forTeam(team).outbox,
    clock,
    // Runs must not wait for a slow event bus.
    until: clock.now() + (until - clock.now()) / 3,
    onError: (model, error) => logger.log("error", "cannot tell of a model's changes", { model, error }),
  });
  await reconcileAll(await listOpenRuns(), {
    forTeam,
    meter,
    clock,
    until,
    onDone: (runId, state) => logger.log("debug", "reconciled", { runId, state }),
    onError: (runId, error) => logger.log("error", "cannot reconcile", { runId, error }),
  });
}
