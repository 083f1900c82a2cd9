import { runPhases } from "../../adapters/dynamodb/run-steps";
import { executions, taskTokens } from "../../adapters/stepfunctions/executions";
import { registry } from "../../adapters/team-registry";
import * as approvals from "../../core/registry/approval-requests";
import { type ApprovalEvent, type StepEvent, stepHandler } from "../step-handler";

/** Requests a version's approval; in that request's execution, stores the task token for who decides. */
export const handler = stepHandler(
  {
    runs: runPhases("use"),
    registry: registry("change"),
    tokens: taskTokens("answer"),
    executions: executions("startApproval"),
  },
  async (ports, { runId, taskToken, ...target }: StepEvent | ApprovalEvent) => {
    if (taskToken === undefined) return approvals.requestOfRun(ports, runId);
    const { model, version, request } = target as ApprovalEvent;
    await approvals.wait(ports, { runId, model, version, request }, taskToken);
  },
);
