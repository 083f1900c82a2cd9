import { executionArn, stateMachineArn } from "../arns";
import type { JsonObject } from "../json";
import type { Scope } from "../query/scope";
import type { ExecutionSummary } from "../store/records";
import { type ExecutionState, type Thread, variablesOf } from "./thread";

export interface View {
  readonly summary: ExecutionSummary;
  readonly state: ExecutionState;
  now(): number;
  random(): number;
  token(thread: Thread): string;
}

const iso = (ms: number): string => new Date(ms).toISOString();

function mapContext(state: ExecutionState, thread: Thread | undefined): JsonObject {
  if (!thread) return {};
  if (thread.item !== undefined) return { Map: { Item: { Index: thread.index, Value: thread.item } } };
  return mapContext(state, thread.parent === undefined ? undefined : state.threads.get(thread.parent));
}

/**
 * Builds the context object of a state
 * (https://docs.aws.amazon.com/step-functions/latest/dg/input-output-contextobject.html).
 */
function contextOf({ summary, state }: View, thread: Thread, token?: string): JsonObject {
  const { machine, name } = summary;
  return {
    Execution: {
      Id: executionArn(machine, name),
      Input: state.input,
      Name: name,
      RoleArn: summary.roleArn,
      StartTime: iso(state.startedAt),
      RedriveCount: 0,
    },
    StateMachine: { Id: stateMachineArn(machine), Name: machine },
    State: {
      Name: thread.state,
      EnteredTime: iso(thread.enteredAt),
      RetryCount: thread.retries.reduce((sum, count) => sum + (count ?? 0), 0),
    },
    ...mapContext(state, thread),
    ...(token !== undefined && { Task: { Token: token } }),
  };
}

export const scopeOf = (view: View, thread: Thread, token?: string): Scope => ({
  input: thread.input,
  context: contextOf(view, thread, token),
  variables: variablesOf(view.state, thread),
  now: view.now(),
});
