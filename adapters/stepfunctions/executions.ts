import {
  DescribeExecutionCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import type { Executions } from "../../core/runs/ports";
import { executions as executionGrants, stateMachine } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { sfnClient } from "./task-tokens";

const statuses = {
  RUNNING: "running",
  PENDING_REDRIVE: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  TIMED_OUT: "timed-out",
  ABORTED: "aborted",
} as const;

/**
 * Starts and stops executions named by their runs. Step Functions accepts a name once in 90 days, so starting is
 * idempotent.
 */
export function createExecutions(client: SFNClient, stateMachineArn: string): Executions {
  const arnOf = (runId: string): string => `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${runId}`;
  return {
    async start(runId) {
      try {
        await client.send(
          new StartExecutionCommand({ stateMachineArn, name: runId, input: JSON.stringify({ runId }) }),
        );
      } catch (error) {
        if (!named(error, "ExecutionAlreadyExists")) throw error;
      }
    },
    async stop(runId, reason) {
      try {
        await client.send(new StopExecutionCommand({ executionArn: arnOf(runId), error: "Cancelled", cause: reason }));
      } catch (error) {
        if (!named(error, "ExecutionDoesNotExist")) throw error;
      }
    },
    async status(runId) {
      try {
        const { status } = await client.send(new DescribeExecutionCommand({ executionArn: arnOf(runId) }));
        return status && statuses[status];
      } catch (error) {
        if (named(error, "ExecutionDoesNotExist")) return undefined;
        throw error;
      }
    },
  };
}

function named(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

export const executions = sharedPort({
  uses: { sfn: sfnClient() },
  grants: {
    start: [stateMachine("StartExecution")],
    stop: [executionGrants("StopExecution")],
    status: [executionGrants("DescribeExecution")],
  },
  make: ({ sfn }, { config }) => createExecutions(sfn, config.stateMachineArn),
});
