import type { Failure } from "../store/log-record";
import type { Draft } from "./draft";
import { type ExecutionState, type JoinPhase, rootThread, stateOf, type Thread } from "./thread";

/** The types of states that AWS's history shows as aborted when a sibling fails. */
const abortable: ReadonlySet<string> = new Set(["Task", "Wait", "Parallel", "Map"]);

const entered = (thread: Thread): boolean => thread.phase.kind !== "ready" && thread.phase.kind !== "ended";

function aborted(thread: Thread, previous: number): readonly Draft[] {
  const { Type: state } = stateOf(thread);
  if (!entered(thread) || !abortable.has(state)) return [];
  return [{ thread: thread.id, fact: { type: "StateAborted", state }, previous }];
}

/** Handles an uncaught failure. It ends the execution, or fails the Parallel or Map that contains the thread. */
export function abandon(state: ExecutionState, thread: Thread, failure: Failure): readonly Draft[] {
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
