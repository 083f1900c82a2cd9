import { StateError } from "../errors";
import { byteLength, type Json, maxPayloadBytes } from "../json";
import type { Exit } from "../query/dataflow";
import type { Fact, Failure } from "../store/log-record";
import { stateOf, type Thread } from "./thread";

export interface Draft {
  readonly thread: string;
  readonly fact: Fact;
  readonly previous?: number;
}

export const draft = (thread: Thread, fact: Fact): Draft => ({ thread: thread.id, fact });

export function withinLimit(value: Json, who: string): void {
  if (byteLength(value) <= maxPayloadBytes) return;
  throw new StateError(
    "States.DataLimitExceeded",
    `The state/task '${who}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}

/** Returns the cause of a failed expression, with AWS's description of its location. */
const located = (thread: Thread, { error, cause }: StateError): string =>
  error === "States.DataLimitExceeded"
    ? cause
    : `An error occurred while executing the state '${thread.state}' (entered at the event id #${thread.enteredId}). ${cause}`;

export function failureDraft(thread: Thread, failed: StateError): Draft {
  const { error, evaluation } = failed;
  const cause = located(thread, failed);
  if (!evaluation) return draft(thread, { type: "StateFailed", error, cause });
  const { location } = evaluation;
  return draft(thread, { type: "EvaluationFailed", state: thread.state, location, error, cause });
}

export const failureOf = (thread: Thread, failed: StateError): Failure => ({
  error: failed.error,
  cause: located(thread, failed),
});

export function exitDraft(thread: Thread, { output, assigned }: Exit, next = stateOf(thread).Next): readonly Draft[] {
  const { Type: state } = stateOf(thread);
  withinLimit(output, thread.state);
  if (assigned) withinLimit(assigned, thread.state);
  return [draft(thread, { type: "StateExited", state, name: thread.state, output, assigned, next })];
}
