/** TensorFlow operations of ours (`trainer-container/native/operations/`) by hand. Runs where the native binding is installed. */
import * as tf from "@tensorflow/tfjs-core";
import { describeCpu } from "../../../trainer-container/engine/cpu";
import {
  attributesOf,
  type NativeBackend,
  Operations,
  treeSum,
} from "../../../trainer-container/engine/native/operations";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { allocateSum, releaseSum } from "../../../trainer-container/kernels/sum-memory";
import { canonicalAdditions } from "../../../trainer-container/reduction/plan";
import { describeNative, startNative } from "./native";

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

describeNative("operations of ours", () => {
  let backend: NativeBackend;
  let operations: Operations;
  const memory: Float32Array[] = [];

  beforeAll(async () => {
    await startNative();
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

  const vector = (values: Float32Array | Int32Array) => operations.tensor([values.length], values);

  /** Takes a step. @param flat all gradients, instead of those of the weights */
  function step(weights: readonly Weight[], loss = 1, flat?: Float32Array): readonly number[] {
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

  function hold(weights: readonly Weight[]): number {
    const inputs = (["weight", "first", "second"] as const).flatMap((name) =>
      weights.map((each) => vector(each[name])),
    );
    const count = { ...attributesOf(backend.binding).integers("N", []), value: weights.length };
    return operations.read(operations.run("RingmasterHold", [count], inputs))[0]!;
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

  it("take the same step by a function, with tensors that are held", () => {
    const bias = random(37, "bias");
    const sum = Float32Array.of(...dense, ...bias);
    const results = [false, true].map((byFunction) => {
      const weights = [weightOf(5_000, dense), weightOf(37, bias)];
      if (!byFunction) return [step(weights)[0], state(weights)];
      const held = hold(weights);
      operations.release(); // it keeps the memory
      const norm = backend.binding.adam(held, constants, sum);
      backend.binding.releaseHeld(held);
      return [norm, state(weights)];
    });
    expect(results[1]).toEqual(results[0]);

    const weights = [weightOf(50, random(50, "g"))];
    const [before, held] = [state(weights), hold(weights)];
    const { binding } = backend;
    expect(binding.adam(held, constants, new Float32Array(50).fill(Number.NaN))).toBeNaN();
    expect(() => binding.adam(held, constants, new Float32Array(49))).toThrow(/no Float32Array of enough elements/);
    expect(() => binding.adam(held, constants.subarray(1), new Float32Array(50))).toThrow(/enough elements/);
    for (let twice = 0; twice < 2; twice++) binding.releaseHeld(held);
    expect(() => binding.adam(held, constants, new Float32Array(50))).toThrow(/no tensors are held under this number/);
    expect(state(weights)).toEqual(before);
  });

  it("write vectors one after the other to other memory", () => {
    const parts = [random(5_000, "a"), new Float32Array(0), random(37, "b")];
    const into = shared(new Float32Array(5_100));
    const count = { ...attributesOf(backend.binding).integers("N", []), value: parts.length };
    const write = (memory: Float32Array) =>
      operations.read(operations.run("RingmasterWrite", [count], [memory, ...parts].map(vector)));
    expect(write(into)).toEqual(into);
    expect(into).toEqual(Float32Array.of(...parts.flatMap((part) => [...part]), ...new Float32Array(63)));
    expect(() => write(into.subarray(0, 5_000))).toThrow(/more elements than the memory/);
  });

  it("refuse pooling whose windows do not cover the image", () => {
    const { integers, flag } = attributesOf(backend.binding);
    const attributes = [
      ...["height", "width"].map((name) => ({ ...integers(name, []), value: 2 })),
      flag("relu", false),
    ];
    const tensor = (...shape: readonly number[]) =>
      operations.tensor(shape, new Float32Array(shape.reduce((product, side) => product * side, 1)));
    const y = () => tensor(1, 2, 2, 1);
    const pool = (...inputs: readonly number[]) => operations.run("RingmasterMaxPoolGrad", attributes, inputs);
    expect(() => pool(tensor(1, 5, 4, 1), y(), y())).toThrow(/windows do not cover x/);
    expect(() => pool(tensor(1, 4, 4, 1), y(), tensor(1, 2, 1, 1))).toThrow(/y or dy has another size/);
    expect(() => pool(tensor(4, 4), y(), y())).toThrow(/x has not four axes/);
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

  const hasProducts = describeCpu().features.includes("avx512f") && process.platform === "linux";
  (hasProducts ? describe : describe.skip)("for products of matrices", () => {
    interface Matrix {
      readonly rows: number;
      readonly columns: number;
      readonly values: Float32Array;
    }
    const matrix = (rows: number, columns: number, key: string, scale = 8): Matrix => {
      // Whole numbers: every product and sum is exact.
      const values = random(rows * columns, key).map((value) => (scale === 0 ? value : Math.round(scale * value)));
      return { rows, columns, values };
    };
    const transposed = ({ rows, columns, values }: Matrix): Matrix => ({
      rows: columns,
      columns: rows,
      values: values.map((_, at) => values[(at % rows) * columns + Math.floor(at / rows)]!),
    });
    const product = (left: Matrix, right: Matrix): Float32Array =>
      Float32Array.from({ length: left.rows * right.columns }, (_, at) => {
        const [i, j] = [Math.floor(at / right.columns), at % right.columns];
        let sum = 0;
        for (let k = 0; k < left.columns; k++)
          sum += left.values[i * left.columns + k]! * right.values[k * right.columns + j]!;
        return sum;
      });
    const tensor = ({ rows, columns, values }: Matrix) => operations.tensor([rows, columns], values);

    function run(
      op: string,
      given: Readonly<Record<string, number | boolean | readonly number[]>>,
      inputs: readonly Matrix[],
    ) {
      const { integers, flag } = attributesOf(backend.binding);
      const attributes = Object.entries(given).map(([name, value]) => {
        if (typeof value === "boolean") return flag(name, value);
        return typeof value === "number" ? { ...integers(name, []), value } : integers(name, value);
      });
      const found = operations.read(operations.run(op, attributes, inputs.map(tensor))).slice();
      operations.release();
      return found;
    }
    const additionsOf = (terms: number) => canonicalAdditions(terms).flatMap(({ into, from }) => [into, from]);

    // Tiles have 8 rows and 48 columns; products are added in parts of at most 128. Each has a rest.
    const [x, weights] = [matrix(11, 131, "x"), matrix(131, 70, "weights")];
    const bias = matrix(1, 70, "bias", 500);

    it("multiply rows and weights, add a bias and cut off negative results", () => {
      const products = product(x, weights);
      expect(run("RingmasterDense", { relu: false, N: 0 }, [x, weights])).toEqual(products);
      const biased = products.map((value, at) => Math.max(0, value + bias.values[at % 70]!));
      expect(biased.filter((value) => value === 0).length).toBeGreaterThan(100);
      expect(run("RingmasterDense", { relu: true, N: 1 }, [x, weights, bias])).toEqual(biased);
    });

    it("keep values that are not numbers", () => {
      const values = x.values.slice();
      values[131] = Number.NaN;
      const found = run("RingmasterDense", { relu: true, N: 1 }, [{ ...x, values }, weights, bias]);
      expect([...found.keys()].filter((at) => Number.isNaN(found[at]!)).map((at) => Math.floor(at / 70))).toEqual(
        Array.from({ length: 70 }, () => 1),
      );
    });

    it("multiply a gradient by transposed weights, where outputs are above 0", () => {
      const gradient = matrix(11, 70, "gradient");
      const products = product(gradient, transposed(weights));
      expect(run("RingmasterDenseGradient", { N: 0 }, [gradient, weights])).toEqual(products);
      const outputs = x.values.slice();
      outputs[0] = Number.NaN;
      const gated = products.map((value, at) => (outputs[at]! > 0 ? value : 0));
      expect(run("RingmasterDenseGradient", { N: 1 }, [gradient, weights, { ...x, values: outputs }])).toEqual(gated);
    });

    it("give a row the same bits alone and among others, on several threads and on one", () => {
      const [many, wide] = [matrix(256, 256, "many", 0), matrix(256, 257, "wide", 0)];
      const threads = process.env["TF_NUM_INTRAOP_THREADS"];
      const results = ["1", "3"].map((count) => {
        process.env["TF_NUM_INTRAOP_THREADS"] = count;
        const dense = run("RingmasterDense", { relu: false, N: 0 }, [many, wide]);
        return [dense, run("RingmasterProductSum", { additions: [] }, [many, wide])].map((each) =>
          Buffer.from(each.buffer),
        );
      });
      process.env["TF_NUM_INTRAOP_THREADS"] = threads;
      for (const [index, one] of results[0]!.entries()) expect(one.equals(results[1]![index]!)).toBe(true);
      const last = { rows: 1, columns: 256, values: many.values.subarray(255 * 256) };
      const alone = run("RingmasterDense", { relu: false, N: 0 }, [last, wide]);
      expect(Buffer.from(alone.buffer).equals(results[0]![0]!.subarray(-alone.byteLength))).toBe(true);
    });

    it.each([1, 2, 3, 7, 8])("add the gradients of %i micro-batches in the canonical order", (terms) => {
      const rows = 35;
      const [left, right] = [matrix(terms * rows, 13, "left", 0), matrix(terms * rows, 70, "right", 0)];
      const part = ({ columns, values }: Matrix, index: number): Matrix => ({
        rows,
        columns,
        values: values.subarray(index * rows * columns, (index + 1) * rows * columns),
      });
      for (const [op, factors] of [
        ["RingmasterProductSum", [left, right]],
        ["RingmasterColumnSum", [right]],
      ] as const) {
        const single = Array.from({ length: terms }, (_, index) =>
          run(
            op,
            { additions: [] },
            factors.map((factor) => part(factor, index)),
          ),
        );
        for (const { into, from } of canonicalAdditions(terms))
          single[into] = single[into]!.map((value, at) => f(value + single[from]![at]!));
        expect(run(op, { additions: additionsOf(terms) }, factors)).toEqual(single[0]);
      }
    });

    it("multiply transposed matrices and add rows", () => {
      const right = matrix(11, 70, "right");
      const ones = { rows: 1, columns: 11, values: new Float32Array(11).fill(1) };
      expect(run("RingmasterProductSum", { additions: [] }, [x, right])).toEqual(product(transposed(x), right));
      expect(run("RingmasterColumnSum", { additions: [] }, [right])).toEqual(product(ones, right));
    });

    it("refuse factors that do not fit", () => {
      const wrong = /factors have different sizes/;
      expect(() => run("RingmasterDense", { relu: false, N: 0 }, [x, x])).toThrow(wrong);
      expect(() => run("RingmasterDense", { relu: false, N: 1 }, [x, weights, x])).toThrow(wrong);
      expect(() => run("RingmasterDenseGradient", { N: 0 }, [x, weights])).toThrow(wrong);
      expect(() => run("RingmasterProductSum", { additions: [] }, [x, weights])).toThrow(wrong);
      expect(() => run("RingmasterProductSum", { additions: [0, 1] }, [x, x])).toThrow(wrong);
      expect(() => run("RingmasterColumnSum", { additions: [0, 1] }, [x])).toThrow(/have different sizes/);
    });
  });
});
