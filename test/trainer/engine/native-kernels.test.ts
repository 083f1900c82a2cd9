/** The kernels put in the place of tfjs-node's, against its own or by hand. Runs where the native binding is installed. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { drawKey, withDraws } from "../../../trainer-container/engine/draws";
import type { Engine } from "../../../trainer-container/engine/engine";
import { nanOutOfRange } from "../../../trainer-container/engine/native/elementwise";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { describeNative, startNative } from "./native";

const random = (shape: number[], key: string): tf.Tensor => {
  const draw = seededRandom(key);
  return tf.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => draw() * 2 - 1),
    shape,
  );
};

const values = (tensor: tf.Tensor): number[] => Array.from(tensor.dataSync());

/** Max-pooling `size × size` with `stride` and its gradient, in plain JavaScript; the first of equal maxima takes it all. */
function poolByHand(x: tf.Tensor, dy: tf.Tensor, size: number, stride: number) {
  const [rows = 0, height = 0, width = 0, channels = 0] = x.shape;
  const [, outHeight = 0, outWidth = 0] = dy.shape;
  const [from, gradient] = [x.dataSync(), dy.dataSync()];
  const y: number[] = [];
  const dx = new Array<number>(x.size).fill(0);
  for (let row = 0; row < rows; row++)
    for (let top = 0; top < outHeight; top++)
      for (let left = 0; left < outWidth; left++)
        for (let channel = 0; channel < channels; channel++) {
          let best = -1;
          for (let i = 0; i < size; i++)
            for (let j = 0; j < size; j++) {
              const [line, column] = [top * stride + i, left * stride + j];
              if (line >= height || column >= width) continue;
              const at = ((row * height + line) * width + column) * channels + channel;
              if (best < 0 || from[at]! > from[best]!) best = at;
            }
          dx[best]! += gradient[y.length]!;
          y.push(from[best]!);
        }
  return { y, dx };
}

describeNative("native kernels", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startNative();
  });
  beforeEach(() => tf.engine().startScope());
  afterEach(() => tf.engine().endScope());

  it("on a GPU make rows of an index out of range NaN", () => {
    const ids = tf.tensor2d(
      [
        [0, 3],
        [4, -1],
      ],
      [2, 2],
      "int32",
    );
    const added = nanOutOfRange([4, 5], ids, 0, 0);
    expect(added.shape).toEqual([2, 2, 1]);
    expect(values(added)).toEqual([0, 0, Number.NaN, Number.NaN]);
    expect(nanOutOfRange([2, 3, 4, 5], ids, 2, 1).shape).toEqual([2, 1, 2, 1]);
  });

  it.each([
    { shape: [300, 400], rate: 0.1 },
    { shape: [7, 11, 13, 99], rate: 0.5 }, // an odd number of elements
    { shape: [1], rate: 0.3 },
    { shape: [1_000], rate: 1 - 1e-9 },
  ])("drop elements at the rate $rate by the pass's key, and scale the others", ({ shape, rate }) => {
    const layer = layers.dropout({ rate });
    const drop = (key: string) => {
      const draw = () => layer.apply(tf.ones(shape), { training: true }) as tf.Tensor;
      return values(withDraws(tf.tensor1d(drawKey(key), "int32"), draw));
    };
    const found = drop("a");
    const dropped = Math.min(Math.round(rate * 65_536), 65_535) / 65_536;
    const scale = Math.fround(1 / (1 - dropped));
    expect(found.every((value) => value === 0 || Math.abs(value / scale - 1) < 1e-6)).toBe(true);
    const share = found.filter((value) => value === 0).length / found.length;
    const deviation = Math.sqrt((dropped * (1 - dropped)) / found.length);
    expect(Math.abs(share - dropped)).toBeLessThan(5 * deviation + 1e-9);
    expect(drop("a")).toEqual(found);
    if (found.length > 1_000) expect(drop("b")).not.toEqual(found);
  });

  it.each<[string, number[], number, number, "valid" | "same"]>([
    ["2×2", [3, 8, 6, 5], 2, 2, "valid"],
    ["2×2, a column over", [2, 5, 7, 3], 2, 2, "valid"],
    ["2×2, a column over, padded", [2, 5, 7, 3], 2, 2, "same"],
    ["3×3 overlapping", [2, 7, 7, 4], 3, 2, "valid"],
  ])("pool and give the gradient to the first maximum: %s", (_, shape, size, stride, pad) => {
    const x = tf.round(tf.mul(random(shape, "pool"), 3)) as tf.Tensor4D; // many ties
    const y = tf.maxPool(x, size, stride, pad);
    const dy = random(y.shape, "gradient");
    const byHand = poolByHand(x, dy, size, stride);
    expect(values(y)).toEqual(byHand.y.map((each) => expect.closeTo(each, 6)));
    const dx = tf.grad((each) => tf.maxPool(each as tf.Tensor4D, size, stride, pad))(x, dy);
    expect(values(dx)).toEqual(byHand.dx.map((each) => expect.closeTo(each, 5)));
  });

  it("pool volumes and give the gradient to the maximum, however small the distance to others", () => {
    if (engine.numerics().switches["maxPool"] === "stock") return; // without oneDNN there is no other kernel
    const x = tf.tensor([1e-6, 2e-6, 4e-6, 3e-6, -1, -1, -1, -1], [1, 2, 2, 2, 1]);
    const pool = (each: tf.Tensor): tf.Tensor => tf.maxPool3d(each as tf.Tensor5D, 2, 1, "valid");
    expect(values(pool(x))).toEqual([Math.fround(4e-6)]);
    expect(values(tf.grad(pool)(x))).toEqual([0, 0, 1, 0, 0, 0, 0, 0]);
  });

  it.each([
    ["few channels", [2, 3, 4, 5]],
    ["many channels", [2, 2, 2, 200]],
    ["one position", [4, 1, 1, 3]],
  ])("add a bias to images of %s", (_, shape) => {
    const [x, bias] = [random(shape, "x"), random(shape.slice(3), "bias")];
    const [a, b] = [x.dataSync(), bias.dataSync()];
    const expected = Array.from(a, (each, i) => Math.fround(each + b[i % b.length]!));
    expect(values(tf.add(x, bias))).toEqual(expected);
  });

  it("leave no tensor behind", () => {
    const x = random([2, 4, 4, 3], "x") as tf.Tensor4D;
    const cycle = () => {
      const bias = random([3], "bias");
      tf.dispose([tf.maxPool(x, 2, 2, "valid"), tf.grad((each) => tf.maxPool(each as tf.Tensor4D, 2, 2, "same"))(x)]);
      tf.dispose([tf.add(x, bias), tf.grad(tf.relu)(x), bias]);
    };
    cycle();
    const { numTensors } = tf.memory();
    cycle();
    expect(tf.memory().numTensors).toBe(numTensors);
  });
});
