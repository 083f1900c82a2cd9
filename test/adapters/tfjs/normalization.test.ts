import "@tensorflow/tfjs-backend-cpu"; // The oracle: plain loops.
import * as tf from "@tensorflow/tfjs-core";
import { startWasmBackend } from "../../../adapters/tfjs/wasm-backend";

const counted = (shape: readonly number[], first = 1) =>
  tf.add(tf.reshape(tf.range(0, tf.util.sizeFromShape([...shape])), [...shape]), first);

async function on(backend: "wasm" | "cpu", body: () => tf.Tensor): Promise<unknown> {
  await tf.setBackend(backend);
  const before = tf.memory().numTensors;
  const buffers = tf.engine().state.numDataBuffers;
  const result = tf.tidy(() => body().arraySync() as tf.TensorContainer);
  expect(tf.memory().numTensors).toBe(before);
  expect(tf.engine().state.numDataBuffers).toBe(buffers);
  return result;
}

beforeAll(async () => {
  jest.spyOn(console, "warn").mockImplementation(() => {}); // The oracle advertises the native backend.
  await startWasmBackend();
});

it.each<[shape: number[], reps: number[]]>([
  [[3], [4]],
  [
    [2, 3],
    [1, 1],
  ],
  [
    [2, 3],
    [2, 1],
  ],
  [
    [2, 3],
    [1, 2],
  ],
  [
    [2, 3],
    [3, 2],
  ],
  [
    [2, 1, 3, 1],
    [1, 2, 1, 5],
  ],
  [
    [1, 1, 1, 4],
    [2, 3, 2, 1],
  ],
  [
    [2, 2, 2, 2, 2],
    [1, 3, 2, 1, 2],
  ],
  [
    [2, 3],
    [0, 2],
  ],
])("tiles %j by %j as the oracle does, floats and integers", async (shape, reps) => {
  for (const dtype of ["float32", "int32"] as const) {
    const tiled = () => tf.tile(tf.cast(counted(shape), dtype), reps);
    expect(await on("wasm", tiled)).toEqual(await on("cpu", tiled));
  }
});

it("normalizes by the statistics of an inner axis (by hand)", async () => {
  const normalized = () =>
    tf.batchNorm4d(
      tf.tensor4d([1, 2, 3, 4], [1, 2, 1, 2]),
      tf.tensor4d([1, 3], [1, 2, 1, 1]),
      tf.tensor4d([0.75, 3.75], [1, 2, 1, 1]), // with ε: 1 and 4
      tf.tensor4d([10, 20], [1, 2, 1, 1]),
      tf.tensor4d([1, 2], [1, 2, 1, 1]),
      0.25,
    );
  expect(await on("wasm", normalized)).toEqual([[[[10, 11]], [[20, 21]]]]);
});

it("normalizes by channel with and without scale and offset (by hand)", async () => {
  const statistics = () => [tf.tensor1d([0, 1]), tf.tensor1d([3, 0])] as const;
  const x = () => tf.tensor2d([2, 1, 4, 3], [2, 2]);
  expect(await on("wasm", () => tf.batchNorm(x(), ...statistics(), undefined, undefined, 1))).toEqual([
    [1, 0],
    [2, 2],
  ]);
  const scaled = () => tf.batchNorm(x(), ...statistics(), tf.tensor1d([1, 1]), tf.tensor1d([2, 3]), 1);
  expect(await on("wasm", scaled)).toEqual([
    [3, 1],
    [5, 7],
  ]);
});
