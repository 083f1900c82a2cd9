import { withTimeLimit } from "../engine/user-code";

type Callback = (...args: readonly unknown[]) => unknown;
type Timer = (callback: Callback, ...rest: readonly unknown[]) => unknown;

/** Wraps a function that takes a callback: a call of the callback has the time limit of user code. */
function limited(timer: Timer): Timer {
  const wrapped: Timer = (callback, ...rest) =>
    timer(typeof callback === "function" ? (...args) => withTimeLimit(() => callback(...args)) : callback, ...rest);
  // `util.promisify` uses a property.
  return Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(timer));
}

/** The timers of Node that a training module sees as its globals. */
export const limitedTimers = {
  setTimeout: limited(setTimeout as Timer),
  setInterval: limited(setInterval as Timer),
  setImmediate: limited(setImmediate as Timer),
  queueMicrotask: limited(queueMicrotask as Timer),
} as const;
