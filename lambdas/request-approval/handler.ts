import { runPhases } from "../../adapters/dynamodb/run-steps";
import { taskTokens } from "../../adapters/stepfunctions/task-tokens";
import { registry } from "../../adapters/team-registry";
import { awaitApproval } from "../../core/registry/approval-step";
import { stepHandler } from "../step-handler";

/** Leaves the task token for the call that approves or rejects; answers at once where the decision is known, or the version is the champion. */
export const handler = stepHandler(
  { runs: runPhases("use"), registry: registry("change"), tokens: taskTokens("answer") },
  async (ports, { runId, taskToken }) => {
    if (taskToken === undefined) throw new Error("request-approval was invoked without a task token");
    return awaitApproval(ports, runId, taskToken);
  },
);
