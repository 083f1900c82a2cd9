import * as tf from "@tensorflow/tfjs-core";

/**
 * Calls `body` and disposes the tensors that it creates. Its result must not contain tensors: `tf.tidy` would search it for
 * them, which takes about 2 µs for each element of a typed array, and fails beyond 2^24 different values.
 */
export function withinScope<T>(body: () => T): T {
  let result: T | undefined;
  tf.tidy(() => {
    result = body();
  });
  return result as T;
}
