import { randomBytes } from "node:crypto";
import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import type { RetrainEvent } from "./events";
import { createRetrainHandler } from "./retrain";

let deployment: Deployment | undefined;

/** Receives events from EventBridge and its Scheduler, and starts the runs of rules: one for each cause. */
export async function handler(event: RetrainEvent, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  await createRetrainHandler(deployment, logger, () => randomBytes(8).toString("hex"))(event);
}
