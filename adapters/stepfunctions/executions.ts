import {
  DescribeExecutionCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { type Executions, type RunSegment, segmentNameOf } from "../../core/runs/ports";
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
 * Starts and stops executions named by their runs and segments. Step Functions accepts a name once in 90 days, so starting is
 * idempotent.
 */
export function createExecutions(client: SFNClient, stateMachineArn: string): Executions {
  const arnOf = (run: RunSegment): string =>
    `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${segmentNameOf(run)}`;
  return {
    async start(run) {
      try {
        await client.send(
          new StartExecutionCommand({
            stateMachineArn,
            name: segmentNameOf(run),
            input: JSON.stringify({ runId: run.runId }),
          }),
        );
      } catch (error) {
        if (!named(error, "ExecutionAlreadyExists")) throw error;
      }
    },
    async stop(run, reason) {
      try {
        await client.send(new StopExecutionCommand({ executionArn: arnOf(run), error: "Cancelled", cause: reason }));
      } catch (error) {
        if (!named(error, "ExecutionDoesNotExist")) throw error;
      }
    },
    async status(run) {
      try {
        const { status } = await client.send(new DescribeExecutionCommand({ executionArn: arnOf(run) }));
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
