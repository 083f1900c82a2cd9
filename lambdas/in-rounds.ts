import { RoundPending, TaskDone } from "../core/runs/rounds";

/** The answer of a step before its last round: the state machine runs the round's tasks and calls the step again. */
export interface PendingRound {
  readonly pending: { readonly round: string; readonly parts: number };
}

/** Answers a step's result, the round that it needs first, or, for a task, that its result is stored. */
export async function inRounds<Result>(
  work: () => Promise<Result>,
): Promise<Result | PendingRound | { readonly done: true }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TaskDone) return { done: true };
    if (!(error instanceof RoundPending)) throw error;
    return { pending: { round: error.round, parts: error.parts } };
  }
}
