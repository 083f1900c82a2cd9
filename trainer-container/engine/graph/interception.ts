/** Replaces what TensorFlow.js computes with while a pass is recorded. */
import type { NativeBackend } from "../native/op";
import type { NativeBinding } from "../native-binding";

/** The functions of the binding by which kernels of TensorFlow.js compute. */
export type TensorFunctions = Pick<NativeBinding, "createTensor" | "tensorDataSync" | "deleteTensor" | "executeOp">;

/** An output of an operation. */
export type Created = ReturnType<NativeBinding["executeOp"]>[number];

export interface Interception {
  readonly functions: TensorFunctions;
  readonly getInputTensorIds: NativeBackend["getInputTensorIds"];
  /** Called before `Math.random` draws. */
  readonly onRandom: () => void;
}

/** Calls `body`, which must be synchronous, with a backend that uses these functions. */
export function intercept<T>(
  backend: NativeBackend,
  { functions, getInputTensorIds, onRandom }: Interception,
  body: () => T,
): T {
  const { binding } = backend;
  const { random } = Math;
  const changed = backend as { binding: NativeBinding; getInputTensorIds: NativeBackend["getInputTensorIds"] };
  // The binding's own properties are read-only, so they cannot be assigned.
  const properties = Object.entries(functions).map(([name, value]) => [name, { value }] as const);
  changed.binding = Object.create(binding, Object.fromEntries(properties)) as NativeBinding;
  changed.getInputTensorIds = getInputTensorIds;
  Math.random = () => {
    onRandom();
    return random();
  };
  try {
    return body();
  } finally {
    Math.random = random;
    delete (backend as Partial<NativeBackend>).getInputTensorIds; // the class's own is visible again
    changed.binding = binding;
  }
}
