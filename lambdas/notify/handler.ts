import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { type NotifyEvent, notify } from "./notify";

let deployment: Deployment | undefined;

/** Time that is reserved for running attempts. */
const reserveMs = 45_000;

/** Receives the ends of runs and requests for approval from EventBridge, and delivers them by each team's settings. */
export async function handler(event: NotifyEvent, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  await notify(deployment, logger, event, deployment.clock.now() + context.getRemainingTimeInMillis() - reserveMs);
}
