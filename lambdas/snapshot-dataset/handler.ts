import type { Context } from "aws-lambda";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { type FilePutEvent, takeFilePut } from "./snapshot";

let deployment: Deployment | undefined;

/** Receives events of raw files in teams' inboxes, and makes them versions of their datasets. */
export async function handler(event: FilePutEvent, context: Context): Promise<void> {
  deployment ??= createPlatform();
  const logger = deployment.logger.with({ requestId: context.awsRequestId });
  const report = await takeFilePut(deployment, event);
  const { key } = event.detail.object;
  if (!report) return logger.log("info", "file passed over: none of ours, or dealt with before", { key });
  const { status, dataset, version, created, code, reason } = report;
  logger.log(status === "refused" ? "warn" : "info", "file of an inbox", {
    key,
    status,
    dataset,
    version,
    created,
    code,
    reason,
  });
}
