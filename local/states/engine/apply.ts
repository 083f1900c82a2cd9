import type { Json } from "../json";
import type { Container, StateMachine } from "../schema";
import { type Failure, isHidden, type LogRecord } from "../store/log-record";
import { mapRunResource } from "./map-run";
import { type ExecutionState, type JoinPhase, rootThread, stateOf, type Thread } from "./thread";

/*
 * Event sourcing: the log determines the state of an execution. The function that applies a record is pure, and the same
 * when the record happens and when it is replayed after a restart. A restarted execution therefore has exactly the state
 * after its last record.
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

type RecordOf<T extends LogRecord["type"]> = LogRecord & { readonly type: T };

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

function exited(thread: Thread, record: RecordOf<"StateExited">): void {
  thread.variables = { ...thread.variables, ...record.assigned };
  thread.input = record.output;
  if (record.next === undefined) {
    thread.phase = { kind: "ended", output: record.output };
    return;
  }
  thread.state = record.next;
  thread.phase = { kind: "ready" };
}

function startBranches(thread: Thread, record: RecordOf<"ParallelStarted">, state: ExecutionState): void {
  const { seq, id: last = 0, input } = record;
  const branches = stateOf(thread).Branches ?? [];
  const ids = branches.map((container, index) => {
    const id = `${thread.id}/${seq}.${index}`;
    state.threads.set(id, born({ id, parent: thread.id, index, container, input, last }));
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

function startIteration(thread: Thread, record: RecordOf<"MapIterationStarted">, state: ExecutionState): void {
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

function collect(state: ExecutionState, child: Thread): void {
  const parent = child.parent === undefined ? undefined : state.threads.get(child.parent);
  if (child.phase.kind !== "ended" || parent?.phase.kind !== "join") return;
  parent.phase.outputs[child.index] = child.phase.output;
  parent.phase.finished += 1;
  parent.phase.running.delete(child.id);
  parent.last = child.last;
  state.threads.delete(child.id);
}

function iterationEnded(parent: Thread, { index }: RecordOf<"MapIterationSucceeded">, state: ExecutionState): void {
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
  (changes[record.type] as Change<LogRecord["type"]> | undefined)?.(thread, record, state);
  // AWS chains the events of a thread. The events about an iteration itself follow the iteration's last event instead.
  if (record.id !== undefined && !record.type.startsWith("MapIteration")) thread.last = record.id;
}

type Change<T extends LogRecord["type"]> = (thread: Thread, record: RecordOf<T>, state: ExecutionState) => void;

const failed: Change<"EvaluationFailed" | "StateFailed"> = (thread, record, state) =>
  fail(state, thread, failureIn(record));

const joined: Change<"ParallelSucceeded" | "MapSucceeded"> = (thread) => {
  if (thread.phase.kind === "join") thread.phase = { kind: "done", result: thread.phase.outputs };
};

const announced: Change<"ParallelFailed" | "MapFailed"> = (thread) => {
  if (thread.phase.kind === "failed") thread.phase.announced = true;
};

const closed: Change<"ExecutionSucceeded" | "ExecutionFailed" | "ExecutionAborted" | "ExecutionTimedOut"> = (
  _thread,
  _record,
  state,
) => {
  state.closed = true;
  state.threads.clear();
};

/** The changes of the state by records. The other records only appear in the history. */
const changes: { readonly [T in LogRecord["type"]]?: Change<T> } = {
  StateEntered(thread, { name, input, at, id = 0 }) {
    const entry: Partial<Thread> = {
      phase: { kind: "entered" },
      state: name,
      input,
      enteredAt: at,
      enteredId: id,
      retries: [],
    };
    Object.assign(thread, entry);
  },
  StateExited(thread, record, state) {
    exited(thread, record);
    if (thread.phase.kind !== "ended" || !parentIsParallel(state, thread)) return;
    thread.last = record.id ?? thread.last;
    collect(state, thread);
  },
  WaitArmed(thread, { until }) {
    thread.phase = { kind: "waiting", until };
  },
  TaskScheduled(thread, record) {
    thread.phase = { kind: "task", task: record, scheduledAt: record.at, submitted: false };
  },
  TaskSubmitted({ phase }) {
    if (phase.kind === "task") phase.submitted = true;
  },
  TaskSucceeded(thread, { output }) {
    thread.phase = { kind: "done", result: output };
  },
  TaskTimedOut: (thread, { heartbeat }, state) =>
    fail(state, thread, { error: "States.Timeout", cause: "", heartbeat }),
  TaskFailed: (thread, record, state) => fail(state, thread, failureIn(record), record.resource === mapRunResource),
  EvaluationFailed: failed,
  StateFailed: failed,
  RetryScheduled(thread, { retrier, until }) {
    thread.retries[retrier] = (thread.retries[retrier] ?? 0) + 1;
    thread.phase = { kind: "backoff", until };
  },
  ParallelStarted: startBranches,
  ParallelSucceeded: joined,
  ParallelFailed: announced,
  MapStarted(thread, { items, concurrency }) {
    thread.phase = { ...join(items.length), items, concurrency };
  },
  MapIterationStarted: startIteration,
  MapIterationSucceeded: iterationEnded,
  MapSucceeded: joined,
  MapFailed: announced,
  BranchFailed(thread, record, state) {
    thread.last = state.threads.get(record.branch)?.last ?? thread.last;
    fail(state, thread, { ...failureIn(record), heartbeat: record.heartbeat }, true);
  },
  ExecutionSucceeded: closed,
  ExecutionFailed: closed,
  ExecutionAborted: closed,
  ExecutionTimedOut: closed,
};

const failureIn = ({ error, cause }: Failure): Failure => ({ error, cause });

function parentIsParallel(state: ExecutionState, thread: Thread): boolean {
  const parent = thread.parent === undefined ? undefined : state.threads.get(thread.parent);
  return parent?.phase.kind === "join" && parent.phase.items === undefined;
}
