import * as tf from "@tensorflow/tfjs-core";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { Engine } from "../../../trainer-container/engine/engine";
import { findBinding, type NativeBinding } from "../../../trainer-container/engine/native-binding";

/** `describe` where the native binding is installed. */
export const describeNative = findBinding("cpu") ? describe : describe.skip;

export const startNative = (more: Partial<Parameters<typeof createEngine>[0]> = {}): Promise<Engine> =>
  createEngine({ preferred: "native", threads: 1, ...more });

/** Runs `body` with some functions of the backend's binding replaced. */
export function withBinding<T>(replace: (binding: NativeBinding) => Partial<NativeBinding>, body: () => T): T {
  const backend = tf.backend() as unknown as { binding: NativeBinding };
  const { binding } = backend;
  const properties = Object.entries(replace(binding)).map(([name, value]) => [name, { value }] as const);
  backend.binding = Object.create(binding, Object.fromEntries(properties)) as NativeBinding;
  try {
    return body();
  } finally {
    backend.binding = binding;
  }
}
