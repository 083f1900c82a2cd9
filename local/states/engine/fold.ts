import type { Json } from "../json";
import { type Failure, isHidden, type LogRecord } from "../store/log-record";
import type { Container, StateMachine } from "../types";
import { mapRunResource } from "./map-run";
import { type ExecutionState, type JoinPhase, rootThread, stateOf, type Thread } from "./thread";

/*
 * state = fold(log). The fold is pure: the same function applies a record when it happens and when it is read after a
 * restart. A restarted execution therefore has exactly the state after its last record.
 */

export const emptyState = (machine: StateMachine): ExecutionState => ({
  machine,
  threads: new Map(),
  seq: 0,
  eventId: 0,
  input: null,
  startedAt: 0,
  closed: false,
});

interface Birth {
  readonly id: string;
  readonly index: number;
  readonly container: Container;
  readonly input: Json;
  readonly last: number;
  readonly parent?: string;
  readonly item?: Json;
}

const born = (birth: Birth): Thread => ({
  ...birth,
  phase: { kind: "ready" },
  state: birth.container.StartAt,
  enteredAt: 0,
  enteredId: 0,
  retries: [],
  variables: {},
});

function drop(state: ExecutionState, join: JoinPhase): void {
  for (const id of join.running) {
    const thread = state.threads.get(id);
    if (thread?.phase.kind === "join") drop(state, thread.phase);
    state.threads.delete(id);
  }
}

function fail(state: ExecutionState, thread: Thread, failure: Failure, joined = false): void {
  if (thread.phase.kind === "join") drop(state, thread.phase);
  thread.phase = { kind: "failed", failure, joined, announced: false };
}

function exited(thread: Thread, record: LogRecord & { readonly type: "StateExited" }): void {
  thread.variables = { ...thread.variables, ...record.assigned };
  thread.input = record.output;
  if (record.next === undefined) {
    thread.phase = { kind: "ended", output: record.output };
    return;
  }
  thread.state = record.next;
  thread.phase = { kind: "ready" };
}

function startBranches(state: ExecutionState, thread: Thread, at: LogRecord, input: Json): void {
  const branches = stateOf(thread).Branches ?? [];
  const ids = branches.map((container, index) => {
    const id = `${thread.id}/${at.seq}.${index}`;
    state.threads.set(id, born({ id, parent: thread.id, index, container, input, last: at.id ?? 0 }));
    return id;
  });
  const size = branches.length;
  thread.phase = { ...join(size), concurrency: size, started: size, running: new Set(ids) };
}

const join = (size: number): JoinPhase => ({
  kind: "join",
  concurrency: 0,
  size,
  outputs: [],
  started: 0,
  finished: 0,
  running: new Set(),
});

function startIteration(
  state: ExecutionState,
  thread: Thread,
  record: LogRecord & { readonly type: "MapIterationStarted" },
): void {
  const { phase } = thread;
  const { ItemProcessor: container } = stateOf(thread);
  if (phase.kind !== "join" || !container) return;
  const id = `${thread.id}/${record.seq}.${record.index}`;
  const item = phase.items?.[record.index] ?? null;
  const { index, input, id: last = 0 } = record;
  state.threads.set(id, born({ id, parent: thread.id, index, item, container, input, last }));
  phase.running.add(id);
  phase.started += 1;
}

/** Records the output of a thread that has ended, and removes the thread. */
function collect(state: ExecutionState, child: Thread): void {
  const parent = child.parent === undefined ? undefined : state.threads.get(child.parent);
  if (child.phase.kind !== "ended" || parent?.phase.kind !== "join") return;
  parent.phase.outputs[child.index] = child.phase.output;
  parent.phase.finished += 1;
  parent.phase.running.delete(child.id);
  parent.last = child.last;
  state.threads.delete(child.id);
}

function iterationEnded(state: ExecutionState, parent: Thread, index: number): void {
  if (parent.phase.kind !== "join") return;
  for (const id of parent.phase.running) {
    const child = state.threads.get(id);
    if (child?.index === index) collect(state, child);
  }
}

export function apply(state: ExecutionState, record: LogRecord): void {
  state.seq = record.seq;
  if (!isHidden(record)) state.eventId = record.id ?? state.eventId;
  if (record.type === "ExecutionStarted") {
    state.input = record.input;
    state.startedAt = record.at;
    const container = state.machine;
    state.threads.set(rootThread, born({ id: rootThread, index: 0, container, input: record.input, last: 0 }));
    return;
  }
  const thread = state.threads.get(record.thread);
  if (!thread) return;
  advance(state, thread, record);
  // AWS chains the events of a thread. The events about an iteration itself follow the iteration's last event instead.
  if (record.id !== undefined && !record.type.startsWith("MapIteration")) thread.last = record.id;
}

function advance(state: ExecutionState, thread: Thread, record: LogRecord): void {
  switch (record.type) {
    case "StateEntered":
      Object.assign(thread, { phase: { kind: "entered" }, state: record.name, input: record.input });
      Object.assign(thread, { enteredAt: record.at, enteredId: record.id ?? 0, retries: [] });
      return;
    case "StateExited":
      exited(thread, record);
      if (thread.phase.kind === "ended" && parentIsParallel(state, thread)) {
        thread.last = record.id ?? thread.last;
        collect(state, thread);
      }
      return;
    case "WaitArmed":
      thread.phase = { kind: "waiting", until: record.until };
      return;
    case "TaskScheduled":
      thread.phase = { kind: "task", task: record, scheduledAt: record.at, started: false, submitted: false };
      return;
    case "TaskStarted":
      if (thread.phase.kind === "task") thread.phase.started = true;
      return;
    case "TaskSubmitted":
      if (thread.phase.kind === "task") thread.phase.submitted = true;
      return;
    case "TaskSucceeded":
      thread.phase = { kind: "done", result: record.output };
      return;
    case "TaskTimedOut":
      fail(state, thread, { error: "States.Timeout", cause: "", heartbeat: record.heartbeat });
      return;
    case "TaskFailed":
      fail(state, thread, failureIn(record), record.resource === mapRunResource);
      return;
    case "EvaluationFailed":
    case "StateFailed":
      fail(state, thread, failureIn(record));
      return;
    case "RetryScheduled":
      thread.retries[record.retrier] = (thread.retries[record.retrier] ?? 0) + 1;
      thread.phase = { kind: "backoff", until: record.until };
      return;
    case "ParallelStarted":
      startBranches(state, thread, record, record.input);
      return;
    case "MapStarted":
      thread.phase = { ...join(record.items.length), items: record.items, concurrency: record.concurrency };
      return;
    case "MapIterationStarted":
      startIteration(state, thread, record);
      return;
    case "MapIterationSucceeded":
      iterationEnded(state, thread, record.index);
      return;
    case "BranchFailed":
      thread.last = state.threads.get(record.branch)?.last ?? thread.last;
      fail(state, thread, { ...failureIn(record), heartbeat: record.heartbeat }, true);
      return;
    case "ParallelSucceeded":
    case "MapSucceeded":
      if (thread.phase.kind === "join") thread.phase = { kind: "done", result: thread.phase.outputs };
      return;
    case "ParallelFailed":
    case "MapFailed":
      if (thread.phase.kind === "failed") thread.phase.announced = true;
      return;
    case "ExecutionSucceeded":
    case "ExecutionFailed":
    case "ExecutionAborted":
    case "ExecutionTimedOut":
      state.closed = true;
      state.threads.clear();
      return;
    default:
      return;
  }
}

const failureIn = ({ error, cause }: Failure): Failure => ({
  ...(error !== undefined && { error }),
  ...(cause !== undefined && { cause }),
});

function parentIsParallel(state: ExecutionState, thread: Thread): boolean {
  const parent = thread.parent === undefined ? undefined : state.threads.get(thread.parent);
  return parent?.phase.kind === "join" && parent.phase.items === undefined;
}
