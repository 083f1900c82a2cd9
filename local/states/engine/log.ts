import { type Fact, isHidden, type LogRecord, maxEvents } from "../store/log-record";
import type { ExecutionSummary } from "../store/records";
import { apply } from "./apply";
import type { Draft } from "./draft";
import { type ExecutionState, rootThread } from "./thread";

const terminal: ReadonlySet<Fact["type"]> = new Set([
  "ExecutionSucceeded",
  "ExecutionFailed",
  "ExecutionAborted",
  "ExecutionTimedOut",
]);
export const isTerminal = (fact: Fact): boolean => terminal.has(fact.type);

const detached: ReadonlySet<Fact["type"]> = new Set(["ExecutionAborted", "ExecutionTimedOut"]);

const historyFull: Fact = {
  type: "ExecutionFailed",
  error: "States.Runtime",
  cause: `The execution reached the maximum number of history events (${maxEvents}).`,
};

/** Appends a draft to the log and applies it. The last position is reserved for the end of the execution. */
export function record(state: ExecutionState, { thread, fact, previous }: Draft, at: number): LogRecord {
  const full = !isHidden(fact) && !isTerminal(fact) && state.eventId + 1 >= maxEvents;
  const placed = full ? historyFull : fact;
  const owner = state.threads.get(thread);
  const chained = full ? state.eventId : (previous ?? owner?.last ?? 0);
  const entry: LogRecord = {
    ...placed,
    seq: state.seq + 1,
    id: isHidden(placed) ? undefined : state.eventId + 1,
    previous: detached.has(placed.type) ? 0 : chained,
    at,
    thread: full ? rootThread : thread,
  };
  apply(state, entry);
  return entry;
}

export function closedSummary(summary: ExecutionSummary, entry: LogRecord): ExecutionSummary {
  const stopped = { ...summary, stoppedAt: entry.at };
  switch (entry.type) {
    case "ExecutionSucceeded":
      return { ...stopped, status: "SUCCEEDED", output: JSON.stringify(entry.output) };
    case "ExecutionTimedOut":
      return { ...stopped, status: "TIMED_OUT" };
    case "ExecutionFailed":
    case "ExecutionAborted": {
      const { error, cause } = entry;
      const status = entry.type === "ExecutionFailed" ? "FAILED" : "ABORTED";
      return { ...stopped, status, error, cause };
    }
    default:
      return summary;
  }
}
