import { StateError } from "../errors";
import type { Json, JsonObject } from "../json";
import { exitCaught, exitWithResult } from "../query/dataflow";
import type { Failure } from "../store/log-record";
import { scopeOf, type View } from "./context";
import { type Draft, draft, exitDraft, failureDraft, failureOf } from "./draft";
import { decideRetry, findCatcher } from "./retry";
import { choose } from "./states/choice";
import { proceedMap, proceedParallel, startMap, startParallel } from "./states/join";
import { failState, pass, wait } from "./states/simple";
import { schedule } from "./states/task";
import { rootThread, stateOf, type TaskPhase, type Thread } from "./thread";
import { abandon } from "./unwind";

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

/** Applies Retry, or else Catch. Otherwise the failure passes to the enclosing state or the execution. */
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
