import type { Delivery } from "./shapes";

export type { Delivery } from "./shapes";

/** The result of an attempt. `retryable`: the same request may succeed later. */
export type AttemptResult =
  | { readonly accepted: true; readonly answer: string }
  | { readonly accepted: false; readonly answer: string; readonly retryable: boolean };

/** Maximum duration of an attempt, its tries and their pauses included. */
export const attemptLeaseMs = 90_000;

const minute = 60_000;
/** Delays before attempts 2, 3, …: 27 hours in total. Each attempt makes three tries. */
const retryDelaysMs: readonly number[] = [5, 30, 120, 300, 600, 600].map((minutes) => minutes * minute);

/**
 * Returns the delivery after an attempt.
 *
 * @param jitter in [0, 1): lengthens a delay by up to a quarter
 */
export function afterAttempt(delivery: Delivery, result: AttemptResult, now: number, jitter: number): Delivery {
  const { dueAt: _, ...rest } = delivery;
  const attempts = delivery.attempts + 1;
  const ended = { ...rest, attempts, answer: result.answer, answeredAt: new Date(now).toISOString() };
  if (result.accepted) return { ...ended, status: "delivered" };
  const delay = result.retryable ? retryDelaysMs[attempts - 1] : undefined;
  if (delay === undefined) return { ...ended, status: "failed" };
  return { ...ended, status: "pending", dueAt: new Date(now + delay * (1 + jitter / 4)).toISOString() };
}
