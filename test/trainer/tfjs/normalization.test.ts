import * as tf from "@tensorflow/tfjs-core";
import { on, shapeOf, startBoth, values } from "./oracle";

startBoth();

it.each([
  ["3", "4"],
  ["2x3", "1x1"],
  ["2x3", "2x1"],
  ["2x3", "1x2"],
  ["2x3", "3x2"],
  ["2x1x3x1", "1x2x1x5"],
  ["1x1x1x4", "2x3x2x1"],
  ["2x2x2x2x2", "1x3x2x1x2"],
  ["2x3", "0x2"],
])("tiles %s by %s as the oracle does, floats and integers", async (shape, reps) => {
  for (const dtype of ["float32", "int32"] as const) {
    const tiled = () => tf.tile(tf.cast(tf.mul(values(shapeOf(shape), 1), 100), dtype), shapeOf(reps));
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
  expect((await on("wasm", normalized)).data).toEqual([10, 11, 20, 21]);
});

it("normalizes by channel with and without scale and offset (by hand)", async () => {
  const statistics = () => [tf.tensor1d([0, 1]), tf.tensor1d([3, 0])] as const;
  const x = () => tf.tensor2d([2, 1, 4, 3], [2, 2]);
  const plain = () => tf.batchNorm(x(), ...statistics(), undefined, undefined, 1);
  expect((await on("wasm", plain)).data).toEqual([1, 0, 2, 2]);
  const scaled = () => tf.batchNorm(x(), ...statistics(), tf.tensor1d([1, 1]), tf.tensor1d([2, 3]), 1);
  expect((await on("wasm", scaled)).data).toEqual([3, 1, 5, 7]);
});
