import "@tensorflow/tfjs-backend-cpu"; // The oracle: plain loops.
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-layers"; // Registers the gradients.
import { startWasmBackend } from "../../../trainer-container/tfjs/wasm-backend";

/** `2x3`: [2, 3]; a single number: one axis. */
export const shapeOf = (text: string): number[] => text.split("x").map(Number);

/** Returns values in [−1, 1) that are derived from the key. */
export const valuesOf = (size: number, key: number): Float32Array =>
  Float32Array.from({ length: size }, (_, i) => ((i * 7919 + key * 104729) % 1013) / 506.5 - 1);

export const values = (shape: readonly number[], key: number): tf.Tensor =>
  tf.tensor(valuesOf(tf.util.sizeFromShape([...shape]), key), [...shape]);

/** Returns the result of `body` on a backend as plain numbers. Asserts that no tensor is leaked. */
export async function on(backend: "wasm" | "cpu", body: () => tf.Tensor): Promise<{ shape: number[]; data: number[] }> {
  await tf.setBackend(backend);
  const before = tf.memory().numTensors;
  const buffers = tf.engine().state.numDataBuffers;
  const result = tf.tidy(body);
  const data = Array.from(result.dataSync());
  const { shape } = result;
  result.dispose();
  expect(tf.memory().numTensors).toBe(before);
  expect(tf.engine().state.numDataBuffers).toBe(buffers);
  return { shape, data };
}

export async function expectEqualOnBoth(body: () => tf.Tensor): Promise<void> {
  const [actual, expected] = [await on("wasm", body), await on("cpu", body)];
  expect(actual.shape).toEqual(expected.shape);
  actual.data.forEach((value, i) => {
    expect(value).toBeCloseTo(expected.data[i] as number, 4);
  });
}

export function startBoth(): void {
  beforeAll(async () => {
    jest.spyOn(console, "warn").mockImplementation(() => {}); // The oracle advertises the native backend.
    await startWasmBackend();
  });
}
