import type { Catcher, Retrier, State } from "../schema";
import type { Failure } from "../store/log-record";

/** The error name that `States.TaskFailed` does not include. */
const timeout = "States.Timeout";
/** The error name that `States.ALL` does not include. */
const runtime = "States.Runtime";

/** Returns whether an `ErrorEquals` list includes the failure (https://states-language.net/spec.html#errors). */
export function matches(names: readonly string[], failure: Failure): boolean {
  const { error, heartbeat } = failure;
  return names.some((name) => {
    if (name === error) return true;
    if (error === runtime) return false;
    if (name === "States.ALL") return true;
    if (name === "States.HeartbeatTimeout") return heartbeat === true;
    return name === "States.TaskFailed" && error !== timeout;
  });
}

/** The maximum wait before a retry without MaxDelaySeconds. */
const maxDelaySeconds = 31_622_400;

/** Returns the seconds to wait before the `attempt`-th retry, counted from 0. `random` is in [0, 1). */
export function retryDelay(retrier: Retrier, attempt: number, random: number): number {
  const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = maxDelaySeconds } = retrier;
  const delay = Math.min(IntervalSeconds * BackoffRate ** attempt, MaxDelaySeconds);
  return retrier.JitterStrategy === "FULL" ? delay * random : delay;
}

export interface RetryDecision {
  readonly retrier: number;
  readonly delaySeconds: number;
}

/**
 * Decides on a retry. The first retrier that includes the failure decides, even if it has no attempts left. Returns
 * undefined if the state is not retried.
 *
 * @param used the number of retries so far, by index of the retrier
 * @param random in [0, 1), for the jitter
 */
export function decideRetry(
  state: State,
  failure: Failure,
  used: readonly (number | undefined)[],
  random: number,
): RetryDecision | undefined {
  const index = state.Retry?.findIndex(({ ErrorEquals }) => matches(ErrorEquals, failure)) ?? -1;
  const retrier = state.Retry?.[index];
  const attempt = used[index] ?? 0;
  if (!retrier || attempt >= (retrier.MaxAttempts ?? 3)) return undefined;
  return { retrier: index, delaySeconds: retryDelay(retrier, attempt, random) };
}

export function findCatcher(
  state: State,
  failure: Failure,
): { readonly catcher: Catcher; readonly index: number } | undefined {
  const index = state.Catch?.findIndex(({ ErrorEquals }) => matches(ErrorEquals, failure)) ?? -1;
  const catcher = state.Catch?.[index];
  return catcher && { catcher, index };
}
