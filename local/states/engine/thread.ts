import type { Json, JsonObject } from "../json";
import type { Container, State, StateMachine } from "../schema";
import type { Failure, ScheduledTask } from "../store/log-record";

export interface Thread {
  readonly id: string;
  readonly parent?: string;
  readonly index: number;
  readonly item?: Json;
  readonly container: Container;
  phase: Phase;
  state: string;
  input: Json;
  enteredAt: number;
  enteredId: number;
  /** The number of uses of each retrier of the state. */
  retries: number[];
  variables: JsonObject;
  /** The id of the thread's latest event. */
  last: number;
}

/**
 * The phase of a thread within its state. A new phase is a new object, because timers and invocations belong to the
 * object's identity.
 */
export type Phase =
  | { readonly kind: "ready" }
  /** In the state, before its work or before a retry. */
  | { readonly kind: "entered" }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "backoff"; readonly until: number }
  | TaskPhase
  | JoinPhase
  | { readonly kind: "done"; readonly result: Json }
  | { readonly kind: "failed"; readonly failure: Failure; readonly joined: boolean; announced: boolean }
  | { readonly kind: "ended"; readonly output: Json };

export interface TaskPhase {
  readonly kind: "task";
  readonly task: ScheduledTask;
  readonly scheduledAt: number;
  /** Whether the invocation has answered. Only the token can then end the task. */
  submitted: boolean;
  /**
   * The deadline of the next heartbeat. It is not in the log: after a restart a worker gets a whole interval, because
   * it could not reach the service while it was down.
   */
  heartbeatDue?: number;
}

/** A Parallel or Map that waits for its threads. */
export interface JoinPhase {
  readonly kind: "join";
  readonly items?: readonly Json[];
  readonly concurrency: number;
  readonly size: number;
  readonly outputs: Json[];
  started: number;
  finished: number;
  readonly running: Set<string>;
}

export const rootThread = "";

export interface ExecutionState {
  readonly machine: StateMachine;
  readonly threads: Map<string, Thread>;
  seq: number;
  eventId: number;
  input: Json;
  startedAt: number;
  closed: boolean;
}

export function stateOf(thread: Thread): State {
  const state = thread.container.States[thread.state];
  if (!state) throw new Error(`No state '${thread.state}' in the definition: the validation let it pass`);
  return state;
}

/** Returns the variables that a thread sees. Inner scopes hide outer ones. */
export function variablesOf(state: ExecutionState, thread: Thread): JsonObject {
  const parent = thread.parent === undefined ? undefined : state.threads.get(thread.parent);
  return parent ? { ...variablesOf(state, parent), ...thread.variables } : thread.variables;
}
