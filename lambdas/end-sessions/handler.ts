import { STSClient } from "@aws-sdk/client-sts";
import type { Context, EventBridgeEvent } from "aws-lambda";
import { createSessionDenials } from "../../adapters/iam/session-denials";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { type EndSessionsDependencies, endSessions } from "../../core/training/end-sessions";

let wired: { readonly deployment: Deployment; readonly dependencies: EndSessionsDependencies } | undefined;

/**
 * Receives the ends of runs from EventBridge, and ends the sessions of their trainers. Lambda retries after an error.
 */
export async function handler(
  { id, detail }: EventBridgeEvent<"Training Run Ended", { readonly runId?: unknown } | null>,
  context: Context,
): Promise<void> {
  wired ??= wire();
  const { deployment, dependencies } = wired;
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  const runId = typeof detail?.runId === "string" ? detail.runId : "";
  const team = runId === "" ? undefined : await deployment.teamOf(runId);
  // The row is authoritative, because another program of the account may send such an event.
  const details = team === undefined ? undefined : await deployment.forTeam(team).runs.findDetails(runId);
  if (!details) {
    logger.log("warn", "ignored the end of an unknown run", { eventId: id, runId });
    return;
  }
  const outcome = await endSessions(dependencies, details);
  if (outcome) logger.log(outcome.omitted > 0 ? "warn" : "info", "sessions ended", { runId, ...outcome });
}

function wire() {
  const deployment = createPlatform();
  const { endedRuns, clock, config } = deployment;
  const denials = createSessionDenials({
    roleArn: config.runRoleArn,
    credentials: new STSClient({}).config.credentials,
    endpoint: process.env["AWS_ENDPOINT_URL"],
  });
  return { deployment, dependencies: { endedRuns, clock, denials } };
}
