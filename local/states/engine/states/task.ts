import { StateError } from "../../errors";
import { byteLength, maxPayloadBytes } from "../../json";
import { argumentsOf } from "../../query/dataflow";
import { scopeOf, type View } from "../context";
import { type Draft, draft } from "../draft";
import { stateOf, type Thread } from "../thread";
import { seconds } from "./simple";

const waitsForToken = (resource: string): boolean => resource.endsWith(".waitForTaskToken");

/** Evaluates the task's parameters and schedules it. The invocation begins after this is on disk. */
export async function schedule(view: View, thread: Thread): Promise<readonly Draft[]> {
  const state = stateOf(thread);
  const { Resource: resource = "", TimeoutSeconds, HeartbeatSeconds } = state;
  const token = waitsForToken(resource) ? view.token(thread) : undefined;
  const scope = scopeOf(view, thread, token);
  const parameters = await argumentsOf(state, scope);
  if (byteLength(parameters) > maxPayloadBytes) {
    throw new StateError(
      "States.DataLimitExceeded",
      `The state/task '${thread.state}' has arguments with a size exceeding the maximum number of bytes service limit.`,
    );
  }
  const timeoutSeconds = await seconds(scope, "TimeoutSeconds", TimeoutSeconds, 1);
  const heartbeatSeconds = await seconds(scope, "HeartbeatSeconds", HeartbeatSeconds, 1);
  const task = { resource, parameters, token, timeoutSeconds, heartbeatSeconds };
  return [draft(thread, { type: "TaskScheduled", ...task }), draft(thread, { type: "TaskStarted", resource })];
}
