import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { sweepOutbox } from "../../core/registry/sweep-outbox";
import { reconcileAll } from "../../core/training/reconcile-all";

let deployment: Deployment | undefined;

/** Time that is kept for what is under way when no more runs are begun: a run takes half a second of calls, a slow service some more. */
const reserveMs = 10_000;

/** Each minute: tells of changes of models that nobody told of, looks after every open run, and measures how many are where. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const { clock, meter, forTeam, listOpenRuns, outboxIndex } = deployment;
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  const until = clock.now() + context.getRemainingTimeInMillis() - reserveMs;
  await sweepOutbox(outboxIndex, {
    outboxOf: (team) => forTeam(team).outbox,
    clock,
    // Runs must not wait for a bus that is slow.
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
