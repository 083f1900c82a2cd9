import {
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { digestOf } from "../../core/digest";
import type { StepExecutions } from "../../core/pipelines/ports";
import type { StepReference } from "../../core/pipelines/records";
import { type ApprovalExecutions, type Executions, segmentNameOf, type TaskTokens } from "../../core/runs/ports";
import { executions as executionGrants, stateMachine } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** The errors of late answers: the task has an answer, has timed out, or its execution has ended. */
const settled = new Set(["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"]);

function createTaskTokens(client: SFNClient): TaskTokens {
  return {
    succeed: (taskToken, output) =>
      quietly(client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }))),
    fail: (taskToken, error, cause) =>
      quietly(
        client.send(
          // The service's limits are 256 and 32,768 characters.
          new SendTaskFailureCommand({ taskToken, error: error.slice(0, 256), cause: cause.slice(0, 32_768) }),
        ),
      ),
    heartbeat: (taskToken) => quietly(client.send(new SendTaskHeartbeatCommand({ taskToken }))),
  };
}

async function quietly(answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof Error && settled.has(error.name))) throw error;
  }
}

const sfnClient = sharedPort({ make: () => new SFNClient({}) });

export const taskTokens = sharedPort({
  uses: { sfn: sfnClient() },
  grants: {
    answer: [stateMachine("SendTaskSuccess", "SendTaskFailure")],
    heartbeat: [stateMachine("SendTaskHeartbeat")],
  },
  make: ({ sfn }) => createTaskTokens(sfn),
});

const statuses = {
  RUNNING: "running",
  PENDING_REDRIVE: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  TIMED_OUT: "timed-out",
  ABORTED: "aborted",
} as const;

/** Executions of one request for an approval: the first, and those that replace a failed one. */
const maxApprovalAttempts = 20;

/** Executions are named by runs and segments. A name is accepted once in 90 days, so starting is idempotent. */
export function createExecutions(
  client: SFNClient,
  stateMachineArn: string,
): Executions & ApprovalExecutions & StepExecutions {
  const stepName = (team: string, step: StepReference) => `step-${digestOf({ team, ...step }).slice(0, 48)}`;
  const arnOf = (name: string): string => `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
  /** @returns whether the name was free, or such an execution runs */
  async function start(name: string, input: object): Promise<boolean> {
    try {
      await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
      return true;
    } catch (error) {
      if (!named(error, "ExecutionAlreadyExists")) throw error;
      return false;
    }
  }
  async function statusOf(name: string) {
    try {
      const { status } = await client.send(new DescribeExecutionCommand({ executionArn: arnOf(name) }));
      return status && statuses[status];
    } catch (error) {
      if (named(error, "ExecutionDoesNotExist")) return undefined;
      throw error;
    }
  }
  async function stop(name: string, reason: string): Promise<void> {
    try {
      // The service's limit is 32,768 characters.
      const cause = reason.slice(0, 32_768);
      await client.send(new StopExecutionCommand({ executionArn: arnOf(name), error: "Cancelled", cause }));
    } catch (error) {
      if (!named(error, "ExecutionDoesNotExist")) throw error;
    }
  }
  return {
    async start(run) {
      await start(segmentNameOf(run), { runId: run.runId });
    },
    async startApproval({ team, ...input }) {
      const { model, version, request } = input;
      const name = `approval-${digestOf({ team, model, version, request }).slice(0, 32)}`;
      for (let attempt = 0; attempt < maxApprovalAttempts; attempt++) {
        const named = attempt === 0 ? name : `${name}-${attempt}`;
        if (await start(named, input)) return;
        const status = await statusOf(named);
        if (status === "running" || status === "succeeded") return;
      }
    },
    stop: (run, reason) => stop(segmentNameOf(run), reason),
    status: (run) => statusOf(segmentNameOf(run)),
    async startStep(team, step) {
      await start(stepName(team, step), { step: { team, ...step } });
    },
    stopStep: (team, step, reason) => stop(stepName(team, step), reason),
    stepStatus: (team, step) => statusOf(stepName(team, step)),
  };
}

function named(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

export const executions = sharedPort({
  uses: { sfn: sfnClient() },
  grants: {
    start: [stateMachine("StartExecution")],
    startApproval: [stateMachine("StartExecution"), executionGrants("DescribeExecution")],
    stop: [executionGrants("StopExecution")],
    status: [executionGrants("DescribeExecution")],
  },
  make: ({ sfn }, { config }) => createExecutions(sfn, config.stateMachineArn),
});
