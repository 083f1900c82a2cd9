import { awaitApproval } from "../../core/registry/approval-step";
import { stepHandler } from "../step-handler";

/**
 * Stores the task token for the request that approves or rejects. Answers immediately if the decision is known, or the
 * version is the champion.
 */
export const handler = stepHandler(async (platform, { runId, taskToken }) => {
  if (taskToken === undefined) throw new Error("request-approval was invoked without a task token");
  return awaitApproval(platform, runId, taskToken);
});
