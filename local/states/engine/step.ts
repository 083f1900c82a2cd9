import { StateError } from "../errors";
import { byteLength, type Json, type JsonObject, maxPayloadBytes } from "../json";
import { argumentsOf, exitCaught, exitWithInput, exitWithResult } from "../query/dataflow";
import type { Scope } from "../query/scope";
import { fillTemplate, unexpectedType } from "../query/template";
import type { ChoiceRule } from "../schema";
import type { Failure } from "../store/log-record";
import { scopeOf, type View } from "./context";
import { type Draft, draft, exitDraft, failureDraft, failureOf } from "./draft";
import { decideRetry, findCatcher } from "./retry";
import { proceedMap, proceedParallel, startMap, startParallel } from "./states/join";
import { failState, pass, seconds, wait } from "./states/simple";
import { type ExecutionState, type JoinPhase, rootThread, stateOf, type TaskPhase, type Thread } from "./thread";

async function holds(rule: ChoiceRule, index: number, scope: Scope): Promise<boolean> {
  const field = `Choices[${index}]/Condition`;
  const value = await fillTemplate(rule.Condition as Json, field, scope);
  if (typeof value === "boolean") return value;
  throw unexpectedType(field, "boolean", value);
}

async function choose(view: View, thread: Thread): Promise<readonly Draft[]> {
  const state = stateOf(thread);
  const scope = scopeOf(view, thread);
  for (const [index, rule] of (state.Choices ?? []).entries()) {
    if (!(await holds(rule, index, scope))) continue;
    const { Assign: assign, Output: output } = rule;
    const definition = { ...state, Assign: assign, ...(output !== undefined && { Output: output }) };
    return exitDraft(thread, await exitWithInput(definition, scope), rule.Next);
  }
  if (state.Default === undefined) {
    throw new StateError("States.NoChoiceMatched", "No rule of the Choice state matched, and it has no Default.");
  }
  return exitDraft(thread, await exitWithInput(state, scope), state.Default);
}

const waitsForToken = (resource: string): boolean => resource.endsWith(".waitForTaskToken");

async function schedule(view: View, thread: Thread): Promise<readonly Draft[]> {
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

/** The types of states that AWS's history shows as aborted when a sibling fails. */
const abortable: ReadonlySet<string> = new Set(["Task", "Wait", "Parallel", "Map"]);

const entered = (thread: Thread): boolean => thread.phase.kind !== "ready" && thread.phase.kind !== "ended";

function aborted(thread: Thread, previous: number): readonly Draft[] {
  const { Type: state } = stateOf(thread);
  if (!entered(thread) || !abortable.has(state)) return [];
  return [{ thread: thread.id, fact: { type: "StateAborted", state }, previous }];
}

function abandon(state: ExecutionState, thread: Thread, failure: Failure): readonly Draft[] {
  const { error, cause } = failure;
  if (thread.id === rootThread) {
    // The cause of a timeout is empty in a Catch, and absent in the execution.
    return [{ thread: rootThread, fact: { type: "ExecutionFailed", error, cause: cause || undefined } }];
  }
  const parent = state.threads.get(thread.parent ?? rootThread);
  if (parent?.phase.kind !== "join") return [];
  const heartbeat = failure.heartbeat || undefined;
  return [
    ...(parent.phase.items ? iterations(state, parent, parent.phase, thread) : branches(state, parent.phase, thread)),
    { thread: parent.id, fact: { type: "BranchFailed", branch: thread.id, error, cause, heartbeat } },
  ];
}

function siblings(state: ExecutionState, join: JoinPhase, failed: Thread): readonly Thread[] {
  return [...join.running].flatMap((id) => (id === failed.id ? [] : (state.threads.get(id) ?? [])));
}

function branches(state: ExecutionState, join: JoinPhase, failed: Thread): readonly Draft[] {
  return [failed, ...siblings(state, join, failed)].flatMap((thread) => aborted(thread, failed.last));
}

function iterations(state: ExecutionState, map: Thread, join: JoinPhase, failed: Thread): readonly Draft[] {
  const { last: previous } = failed;
  const end = (type: "MapIterationFailed" | "MapIterationAborted", thread: Thread): readonly Draft[] => [
    { thread: map.id, fact: { type, name: map.state, index: thread.index }, previous },
    ...aborted(thread, previous),
  ];
  return [
    ...end("MapIterationFailed", failed),
    ...siblings(state, join, failed).flatMap((thread) => end("MapIterationAborted", thread)),
  ];
}

const work = {
  Pass: pass,
  Succeed: pass,
  Fail: failState,
  Choice: choose,
  Wait: wait,
  Task: schedule,
  Parallel: startParallel,
  Map: startMap,
} as const;

/**
 * Returns the next records of a thread, or none while it waits for something outside. Applying them and calling `step`
 * again runs the thread to its end.
 */
export async function step(view: View, thread: Thread): Promise<readonly Draft[]> {
  try {
    return await proceed(view, thread);
  } catch (error) {
    if (error instanceof StateError) return [failureDraft(thread, error)];
    throw error;
  }
}

async function proceed(view: View, thread: Thread): Promise<readonly Draft[]> {
  const { phase } = thread;
  const state = stateOf(thread);
  switch (phase.kind) {
    case "ready":
      return [draft(thread, { type: "StateEntered", state: state.Type, name: thread.state, input: thread.input })];
    case "entered":
      return work[state.Type](view, thread);
    case "join":
      return phase.items ? proceedMap(view, thread, phase) : proceedParallel(thread, phase);
    case "done":
      return exitDraft(thread, await exitWithResult(state, scopeOf(view, thread), phase.result));
    case "failed":
      return handleFailure(view, thread, phase);
    case "ended":
      return ended(view, thread, phase.output);
    case "waiting":
      return view.now() < phase.until ? [] : pass(view, thread);
    case "backoff":
      return view.now() < phase.until ? [] : work[state.Type](view, thread);
    case "task":
      return expired(view, thread, phase);
  }
}

function expired(
  view: View,
  thread: Thread,
  { task, scheduledAt, heartbeatDue = Infinity }: TaskPhase,
): readonly Draft[] {
  const { resource, timeoutSeconds = Infinity } = task;
  const late = view.now() >= scheduledAt + timeoutSeconds * 1000;
  if (!late && view.now() < heartbeatDue) return [];
  return [draft(thread, { type: "TaskTimedOut", resource, heartbeat: !late })];
}

function ended(view: View, thread: Thread, output: Json): readonly Draft[] {
  if (thread.id === rootThread) return [draft(thread, { type: "ExecutionSucceeded", output })];
  const parent = view.state.threads.get(thread.parent ?? rootThread);
  if (parent?.phase.kind !== "join" || !parent.phase.items) return [];
  const fact = { type: "MapIterationSucceeded", name: parent.state, index: thread.index } as const;
  return [{ thread: parent.id, fact, previous: thread.last }];
}

const errorOutput = ({ error, cause }: Failure): JsonObject => ({ Error: error ?? null, Cause: cause ?? null });

interface FailedPhase {
  readonly failure: Failure;
  readonly joined: boolean;
  readonly announced: boolean;
}

async function handleFailure(view: View, thread: Thread, phase: FailedPhase): Promise<readonly Draft[]> {
  const { failure, joined, announced } = phase;
  const state = stateOf(thread);
  if (!announced) {
    const retry = decideRetry(state, failure, thread.retries, view.random());
    if (retry) {
      const until = view.now() + retry.delaySeconds * 1000;
      return [draft(thread, { type: "RetryScheduled", retrier: retry.retrier, until })];
    }
    // AWS shows the failure of a Parallel or Map only after the last retry.
    if (joined) return [draft(thread, { type: state.Type === "Map" ? "MapFailed" : "ParallelFailed" })];
  }
  const caught = findCatcher(state, failure);
  if (!caught) return abandon(view.state, thread, failure);
  try {
    const { catcher, index } = caught;
    const exit = await exitCaught(catcher, index, scopeOf(view, thread), errorOutput(failure));
    return exitDraft(thread, exit, catcher.Next);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    // The failure of a catcher is not caught again.
    return [failureDraft(thread, error), ...abandon(view.state, thread, failureOf(thread, error))];
  }
}
