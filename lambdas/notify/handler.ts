import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { type NotifyEvent, notify } from "./notify";

let deployment: Deployment | undefined;

/** Time that is kept for the attempts that are under way. */
const reserveMs = 45_000;

/** Receives the ends of runs and requests for approval from EventBridge, and delivers them as each team has set. */
export async function handler(event: NotifyEvent, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  await notify(deployment, logger, event, deployment.clock.now() + context.getRemainingTimeInMillis() - reserveMs);
}
