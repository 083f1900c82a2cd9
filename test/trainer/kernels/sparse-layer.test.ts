import type { SparseInputs } from "../../../core/features/sparse";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import {
  backwardInJavaScript,
  type DenseParameters,
  forwardInJavaScript,
  sparseBackward,
  sparseForward,
} from "../../../trainer-container/kernels/sparse-layer";
import { allocateSum, inSumMemory, releaseSum } from "../../../trainer-container/kernels/sum-memory";

const inputWidth = 40;

function inputsOf(rows: number, entries: number, random: () => number): SparseInputs {
  const positions = Int32Array.from({ length: rows * entries }, () => Math.floor(random() * inputWidth));
  const values = Float32Array.from({ length: rows * entries }, () => (random() < 0.5 ? 1 : random() * 4 - 2));
  return { entries, positions, values };
}

function layerOf(units: number, random: () => number): DenseParameters {
  const kernel = allocateSum(inputWidth * units);
  const bias = allocateSum(units);
  for (const each of [kernel, bias]) for (let i = 0; i < each.length; i += 1) each[i] = random() - 0.5;
  return { kernel, bias };
}

const onHeap = ({ kernel, bias }: DenseParameters): DenseParameters => ({ kernel: kernel.slice(), bias: bias.slice() });
const bits = (values: Float32Array): string => Buffer.from(values.slice().buffer).toString("hex");

describe("a dense layer over sparse rows", () => {
  it("sums weight rows and spreads gradients, by hand", () => {
    // Two rows of three inputs: [0, 1, 2] and nothing but [1, 0, 0].
    const inputs = { entries: 2, positions: Int32Array.of(1, 2, 0, 0), values: Float32Array.of(1, 2, 1, 0) };
    const layer = { kernel: Float32Array.of(1, -1, 2, -2, 3, -3), bias: Float32Array.of(10, 0.5) };
    const out = new Float32Array(4);
    sparseForward(inputs, layer, out, false);
    expect([...out]).toEqual([18, -7.5, 11, -0.5]);
    sparseForward(inputs, layer, out, true);
    expect([...out]).toEqual([18, 0, 11, 0]);
    const gradient = { kernel: new Float32Array(6).fill(9), bias: new Float32Array(2).fill(9) };
    sparseBackward(inputs, Float32Array.of(1, 2, 4, 8), gradient);
    expect([...gradient.kernel]).toEqual([4, 8, 1, 2, 2, 4]);
    expect([...gradient.bias]).toEqual([5, 10]);
  });

  it.each([1, 3, 4, 7, 31, 32, 33, 64, 75])("has JavaScript's bits with %i units", (units) => {
    const random = seededRandom(`units ${units}`);
    for (const [rows, entries] of [
      [1, 1],
      [5, 3],
      [17, 6],
    ] as const) {
      const inputs = inputsOf(rows, entries, random);
      const layer = layerOf(units, random);
      const out = allocateSum(rows * units);
      expect(inSumMemory(out, layer.kernel)).toBe(true);
      for (const rectify of [false, true]) {
        const expected = new Float32Array(rows * units);
        forwardInJavaScript(inputs, onHeap(layer), expected, rectify);
        sparseForward(inputs, layer, out.fill(7), rectify);
        expect(bits(out)).toBe(bits(expected));
      }
      const expected = { kernel: new Float32Array(inputWidth * units), bias: new Float32Array(units) };
      backwardInJavaScript(inputs, out.slice(), expected);
      sparseBackward(inputs, out, layer);
      expect(bits(layer.kernel)).toBe(bits(expected.kernel));
      expect(bits(layer.bias)).toBe(bits(expected.bias));
      for (const each of [layer.kernel, layer.bias, out]) releaseSum(each);
    }
  });

  it("leaves the memory next to its arrays as it is", () => {
    const around = allocateSum(2 + inputWidth * 5).fill(7);
    const random = seededRandom("around");
    const gradient = { kernel: around.subarray(1, 1 + inputWidth * 5), bias: allocateSum(5) };
    sparseBackward(inputsOf(9, 2, random), allocateSum(9 * 5).fill(1), gradient);
    expect([around[0], around.at(-1)]).toEqual([7, 7]);
  });

  it.each([-1, inputWidth])("refuses the position %i", (position) => {
    const inputs = { entries: 1, positions: Int32Array.of(position), values: Float32Array.of(1) };
    const layer = layerOf(4, seededRandom("x"));
    expect(() => sparseForward(inputs, layer, allocateSum(4), false)).toThrow(
      `a value at ${position}, but the layer has 40 inputs`,
    );
    expect(() => sparseForward(inputs, layer, allocateSum(8), false)).toThrow("2 rows take 2 pairs; got 1, 1");
  });
});
