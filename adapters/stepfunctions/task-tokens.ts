import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
} from "@aws-sdk/client-sfn";
import type { TaskTokens } from "../../core/runs/ports";
import { stateMachine } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** The errors of late answers: the task has an answer, has timed out, or its execution has ended. */
const settled = new Set(["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"]);

export function createTaskTokens(client: SFNClient): TaskTokens {
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

/** The client of Step Functions. */
export const sfnClient = sharedPort({ make: () => new SFNClient({}) });

export const taskTokens = sharedPort({
  uses: { sfn: sfnClient() },
  grants: {
    answer: [stateMachine("SendTaskSuccess", "SendTaskFailure")],
    heartbeat: [stateMachine("SendTaskHeartbeat")],
  },
  make: ({ sfn }) => createTaskTokens(sfn),
});
