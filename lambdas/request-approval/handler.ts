import { runPhases } from "../../adapters/dynamodb/run-steps";
import { executions } from "../../adapters/stepfunctions/executions";
import { taskTokens } from "../../adapters/stepfunctions/task-tokens";
import { registry } from "../../adapters/team-registry";
import { awaitApproval, awaitVersionApproval, requestApprovalOfRun } from "../../core/registry/request-approval";
import { stepHandler } from "../step-handler";

/**
 * Requests the approval of a run's version; in the execution of that request, stores the task token for the API that
 * records decisions.
 */
export const handler = stepHandler(
  {
    runs: runPhases("use"),
    registry: registry("change"),
    tokens: taskTokens("answer"),
    executions: executions("startApproval"),
  },
  async (ports, { runId, taskToken, model, version, request }) => {
    if (taskToken === undefined) return requestApprovalOfRun(ports, runId);
    // Executions of an earlier release wait in the run itself.
    if (model === undefined || version === undefined || request === undefined) {
      await awaitApproval(ports, runId, taskToken);
      return;
    }
    await awaitVersionApproval(ports, { runId, model, version, request }, taskToken);
  },
);
