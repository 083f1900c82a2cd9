import type { Exit } from "../../query/dataflow";
import { type Draft, draft, withinLimit } from "../draft";
import { stateOf, type Thread } from "../thread";

/** Builds the record of leaving a state, to `next` or to its own Next or End. */
export function exitDraft(thread: Thread, { output, assigned }: Exit, next = stateOf(thread).Next): readonly Draft[] {
  const { Type: state } = stateOf(thread);
  withinLimit(output, thread.state);
  if (assigned) withinLimit(assigned, thread.state);
  const name = thread.state;
  const fact = { type: "StateExited", state, name, output } as const;
  return [draft(thread, { ...fact, ...(assigned && { assigned }), ...(next !== undefined && { next }) })];
}
