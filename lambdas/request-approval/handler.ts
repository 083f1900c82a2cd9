import { runPhases } from "../../adapters/dynamodb/run-steps";
import { executions } from "../../adapters/stepfunctions/executions";
import { taskTokens } from "../../adapters/stepfunctions/task-tokens";
import { registry } from "../../adapters/team-registry";
import { awaitVersionApproval, requestApprovalOfRun } from "../../core/registry/approval-requests";
import { type ApprovalEvent, type StepEvent, stepHandler } from "../step-handler";

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
  async (ports, { runId, taskToken, ...target }: StepEvent | ApprovalEvent) => {
    if (taskToken === undefined) return requestApprovalOfRun(ports, runId);
    const { model, version, request } = target as ApprovalEvent;
    await awaitVersionApproval(ports, { runId, model, version, request }, taskToken);
  },
);
