/** TensorFlow operations of ours (`scripts/native/operations/`) by hand. Runs where the native binding is installed. */
import * as tf from "@tensorflow/tfjs-core";
import { allocateSum, releaseSum } from "../../../trainer-container/collective/sum-memory";
import { describeCpu } from "../../../trainer-container/engine/cpu";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { attributesOf, type NativeBackend } from "../../../trainer-container/engine/native/op";
import { Operations } from "../../../trainer-container/engine/native/operations";
import { treeSum } from "../../../trainer-container/engine/native/own-operations";
import { findBinding } from "../../../trainer-container/engine/native-binding";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { canonicalAdditions } from "../../../trainer-container/reduction/tree";

const f = Math.fround;

function random(length: number, key: string): Float32Array {
  const draw = seededRandom(key);
  return Float32Array.from({ length }, () => draw() * 2 - 1);
}

interface Weight {
  readonly weight: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
  readonly gradient: Float32Array;
  /** Ids of the gradient's rows. Empty: it has all elements. */
  readonly ids?: readonly number[];
}

/** [unscaled, mean, rate, epsilon, decay, 1 − β₁, 1 − β₂, penalty, clip] */
const constants = Float32Array.of(0.5, 0, 0.01, 1e-8, 0.001, 0.1, 0.001, 0.02, 3);

const suite = findBinding("cpu") ? describe : describe.skip;

suite("operations of ours", () => {
  let backend: NativeBackend;
  let operations: Operations;
  const memory: Float32Array[] = [];

  beforeAll(async () => {
    await createEngine({ preferred: "native", threads: 1 });
    backend = tf.backend() as NativeBackend;
    operations = new Operations(backend.binding);
  });
  afterEach(() => {
    operations.release();
    for (const values of memory.splice(0)) releaseSum(values);
  });
  afterAll(() => operations.dispose());

  /** Copies values to memory that a tensor shares. */
  function shared(values: Float32Array): Float32Array {
    const copy = allocateSum(values.length);
    copy.set(values);
    memory.push(copy);
    return copy;
  }

  /** Returns weights with the moments of earlier steps. */
  function weightOf(size: number, gradient: Float32Array, ids?: readonly number[]): Weight {
    const [weight, first] = [shared(random(size, "w")), shared(random(size, "m"))];
    const second = shared(random(size, "v").map(Math.abs));
    return { weight, first, second, gradient, ...(ids && { ids }) };
  }

  /** Takes a step. @param flat all gradients, instead of those of the weights */
  function step(weights: readonly Weight[], loss = 1, flat?: Float32Array): readonly number[] {
    const vector = (values: Float32Array | Int32Array) => operations.tensor([values.length], values);
    const gradients = flat ? [flat] : weights.map(({ gradient }) => gradient);
    const inputs = [
      ...[constants, Float32Array.of(loss)].map(vector),
      ...(["weight", "first", "second"] as const).flatMap((name) => weights.map((each) => vector(each[name]))),
      ...gradients.map(vector),
      ...weights.map(({ ids = [] }) => vector(Int32Array.from(flat ? [] : ids))),
    ];
    const { integers } = attributesOf(backend.binding);
    const counts = { N: weights.length, G: gradients.length };
    const attributes = Object.entries(counts).map(([name, value]) => ({ ...integers(name, []), value }));
    return [...operations.read(operations.run("RingmasterAdam", attributes, inputs))];
  }

  const state = (weights: readonly Weight[]) =>
    weights.map(({ weight, first, second }) => [weight, first, second].map((each) => each.slice()));

  // Rows of 5 elements; row 819 is in two of the blocks by which the norm is summed.
  const ids = [819, 3, 819, 999, -1, 0, 3];
  const rows = random(5 * ids.length, "rows");
  const dense = new Float32Array(5_000);
  for (const [index, id] of ids.entries())
    for (let k = 0; k < 5 && id >= 0; k++) dense[5 * id + k] = f(dense[5 * id + k]! + rows[5 * index + k]!);

  it("take a step of Adam with a penalty, a decay and clipping, each operation rounded to float32", () => {
    const bias = random(37, "bias");
    const weights = [weightOf(5_000, dense), weightOf(37, bias)];
    const before = state(weights);
    const [norm, skipped] = step(weights);
    expect(skipped).toBe(0);
    const all = [...dense, ...bias];
    expect(norm).toBeCloseTo(0.5 * Math.hypot(...all), 5);
    expect(norm).toBeGreaterThan(0);
    const [unscaled, , rate, epsilon, decay, keep1, keep2, penalty, clip] = constants as unknown as number[];
    const scale = norm! > clip! ? f(unscaled! * f(clip! / norm!)) : unscaled!;
    const expected = before.map(([w, m, v], index) => {
      const moved = [w!.slice(), m!.slice(), v!.slice()] as const;
      for (let i = 0; i < w!.length; i++) {
        const g = f(f(weights[index]!.gradient[i]! * scale) + f(penalty! * w![i]!));
        const mean = f(m![i]! + f(keep1! * f(g - m![i]!)));
        const square = f(v![i]! + f(keep2! * f(f(g * g) - v![i]!)));
        const move = f(f(rate! * mean) / f(f(Math.sqrt(square)) + epsilon!));
        moved[0][i] = f(w![i]! - f(f(decay! * w![i]!) + move));
        moved[1][i] = mean;
        moved[2][i] = square;
      }
      return moved;
    });
    expect(state(weights)).toEqual(expected);
  });

  it("take the same step with the rows of an embedding's gradient, and with all gradients in one vector", () => {
    const bias = random(37, "bias");
    const results = [
      { table: weightOf(5_000, dense) },
      { table: weightOf(5_000, rows, ids) },
      { table: weightOf(5_000, rows), flat: Float32Array.of(...dense, ...bias) },
    ].map(({ table, flat }) => {
      const weights = [table, weightOf(37, bias)];
      return [step(weights, 1, flat), state(weights)];
    });
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it.each([
    ["a gradient that is not a number", Number.NaN, 1],
    ["an infinite gradient", Number.NEGATIVE_INFINITY, 1],
    ["an infinite loss", 0, Number.POSITIVE_INFINITY],
  ])("change nothing for %s", (_, element, loss) => {
    for (const gradient of [dense, rows]) {
      const extreme = gradient.slice();
      extreme[3] = element;
      const weights = [weightOf(5_000, extreme, gradient === rows ? ids : undefined)];
      const before = state(weights);
      expect(step(weights, loss)[1]).toBe(1);
      expect(state(weights)).toEqual(before);
    }
  });

  it("take the same step on several threads", () => {
    const size = 700_001;
    const threads = process.env["TF_NUM_INTRAOP_THREADS"];
    const results = ["1", "3"].map((count) => {
      process.env["TF_NUM_INTRAOP_THREADS"] = count;
      const weights = [weightOf(size, random(size, "gradient"))];
      return [step(weights), state(weights).map((parts) => parts.map((part) => Buffer.from(part.buffer)))] as const;
    });
    process.env["TF_NUM_INTRAOP_THREADS"] = threads;
    const [[one, alone], [other, together]] = results as [(typeof results)[0], (typeof results)[0]];
    expect(other).toEqual(one);
    for (const [index, part] of alone[0]!.entries()) expect(part.equals(together[0]![index]!)).toBe(true);
  });

  it("refuse ids and gradients that do not fit", () => {
    expect(() => step([weightOf(50, random(10, "g"), [9, 10])])).toThrow(/id of a row is out of range/);
    expect(() => step([weightOf(50, random(49, "g"))])).toThrow(/gradient is shorter than its weight/);
  });

  it.each([2, 3, 7, 8])("add %i vectors in the canonical order", (count) => {
    const size = 2_051;
    // The first element is a subnormal number, which the trainers' own additions keep.
    const terms = Array.from({ length: count }, (_, index) => random(size, `term ${index}`).fill(1e-40, 0, 1));
    const expected = terms.map((term) => term.slice());
    for (const { into, from } of canonicalAdditions(count))
      expected[into]!.forEach((value, i) => {
        expected[into]![i] = f(value + expected[from]![i]!);
      });
    const found = tf.tidy(() =>
      treeSum(
        backend,
        terms.map((term) => tf.tensor1d(term)),
      ).dataSync(),
    );
    expect(found).toEqual(expected[0]);
  });

  const hasProductSum = describeCpu().features.includes("avx512f") && process.platform === "linux";
  (hasProductSum ? it : it.skip)("add products of transposed matrices in the canonical order", () => {
    const [terms, rows, columns, width] = [3, 5, 7, 70]; // tiles of 4 × 64 with rests
    // Whole numbers: every product and sum is exact.
    const matrix = (size: number, key: string) => random(size, key).map((value) => Math.round(8 * value));
    const left = Array.from({ length: terms }, (_, index) => matrix(rows * columns, `left ${index}`));
    const right = Array.from({ length: terms }, (_, index) => matrix(rows * width, `right ${index}`));
    const expected = new Float32Array(columns * width);
    for (let term = 0; term < terms; term++)
      for (let k = 0; k < rows; k++)
        for (let i = 0; i < columns; i++)
          for (let j = 0; j < width; j++)
            expected[i * width + j]! += left[term]![k * columns + i]! * right[term]![k * width + j]!;
    const { integers } = attributesOf(backend.binding);
    const additions = canonicalAdditions(terms).flatMap(({ into, from }) => [into, from]);
    const attributes = [{ ...integers("N", []), value: terms }, integers("additions", additions)];
    const multiply = (rightRows: number) => {
      const inputs = [
        ...left.map((values) => operations.tensor([rows, columns], values)),
        ...right.map((values) => operations.tensor([rightRows, (rows * width) / rightRows], values)),
      ];
      return operations.read(operations.run("RingmasterProductSum", attributes, inputs));
    };
    expect(multiply(rows)).toEqual(expected);
    expect(() => multiply(7)).toThrow(/factors have different sizes/);
  });
});
