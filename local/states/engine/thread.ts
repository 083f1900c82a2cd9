import type { Json, JsonObject } from "../json";
import type { Failure, ScheduledTask } from "../store/log-record";
import type { Container, State, StateMachine } from "../types";

/** A line of control: the execution itself (`rootThread`), a branch of a Parallel, or an iteration of a Map. */
export interface Thread {
  readonly id: string;
  readonly parent?: string;
  /** The branch's or iteration's place. */
  readonly index: number;
  /** The item that a Map's iteration is about. */
  readonly item?: Json;
  readonly container: Container;
  phase: Phase;
  /** The state it is in, or is about to enter. */
  state: string;
  input: Json;
  enteredAt: number;
  enteredId: number;
  /** How often each retrier of the state has been used. */
  retries: number[];
  /** The variables assigned in this scope. */
  variables: JsonObject;
  /** Id of the thread's latest event. */
  last: number;
}

/** Where in its state a thread is. A new phase is a new object: timers and invocations hang on its identity. */
export type Phase =
  | { readonly kind: "ready" }
  /** In the state, its work not begun, or to be begun again. */
  | { readonly kind: "entered" }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "backoff"; readonly until: number }
  | TaskPhase
  | JoinPhase
  /** The work is done, the exit not recorded. */
  | { readonly kind: "done"; readonly result: Json }
  | { readonly kind: "failed"; readonly failure: Failure; readonly joined: boolean; announced: boolean }
  /** Past its last state. */
  | { readonly kind: "ended"; readonly output: Json };

export interface TaskPhase {
  readonly kind: "task";
  readonly task: ScheduledTask;
  readonly scheduledAt: number;
  started: boolean;
  /** The invocation has answered; only the token can end the task. */
  submitted: boolean;
  /**
   * When the next heartbeat is overdue. Not in the log: after a restart a worker gets a whole interval anew, since it could not
   * reach a service that was down.
   */
  heartbeatDue?: number;
}

/** A Parallel or Map, waiting for its threads. */
export interface JoinPhase {
  readonly kind: "join";
  /** Of a Map: all items, in order. */
  readonly items?: readonly Json[];
  readonly concurrency: number;
  readonly size: number;
  readonly outputs: Json[];
  started: number;
  finished: number;
  readonly running: Set<string>;
}

export const rootThread = "";

/** Everything about a running execution that its log tells. */
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

/** The variables in sight of a thread: inner scopes over outer ones. */
export function variablesOf(state: ExecutionState, thread: Thread): JsonObject {
  const parent = thread.parent === undefined ? undefined : state.threads.get(thread.parent);
  return parent ? { ...variablesOf(state, parent), ...thread.variables } : thread.variables;
}
