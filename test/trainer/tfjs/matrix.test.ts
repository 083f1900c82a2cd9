/**
 * Compares the matrix kernel with sums in double precision, for sizes that cover every tile, tail, block and packing.
 */
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { blocks, gemm, panelsOf } from "../../../trainer-container/tfjs/simd/gemm";
import { type Simd, simdOf } from "../../../trainer-container/tfjs/simd/simd";
import { startWasmBackend } from "../../../trainer-container/tfjs/wasm-backend";
import { multiplyAdd } from "../../../trainer-container/wasm/multiply-add";
import { valuesOf as values } from "./oracle";

interface Sizes {
  readonly m: number;
  readonly k: number;
  readonly n: number;
}

const float = 4;

/** Multiplies row-major operands. Each may be stored transposed. */
function multiply(
  a: Float32Array,
  b: Float32Array,
  { m, k, n }: Sizes,
  ta = false,
  tb = false,
  add = false,
): Float32Array {
  const buffers = simd.buffers<"a" | "b" | "c">();
  const place = (name: "a" | "b" | "c", data: Float32Array): number => {
    const at = buffers.at(name, data.byteLength);
    simd.floats(at, data.length).set(data);
    return at;
  };
  const c = place("c", new Float32Array(m * n + 1).fill(add ? 1 : 7));
  gemm(simd, {
    m,
    n,
    k,
    a: { at: place("a", a), row: ta ? float : k * float, column: ta ? m * float : float },
    b: { at: place("b", b), row: tb ? float : n * float, column: tb ? k * float : float },
    c: { at: c, row: n * float },
    add,
  });
  const result = simd.floats(c, m * n + 1).slice();
  expect(result[m * n]).toBe(add ? 1 : 7); // Nothing is written past the end.
  buffers.dispose();
  return result.subarray(0, m * n);
}

function reference(a: Float32Array, b: Float32Array, { m, k, n }: Sizes, ta: boolean, tb: boolean): Float64Array {
  const product = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      for (let l = 0; l < k; l++) {
        product[i * n + j]! += a[ta ? l * m + i : i * k + l]! * b[tb ? j * k + l : l * n + j]!;
      }
    }
  }
  return product;
}

const sizes: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [1, 7, 8],
  [2, 8, 4],
  [3, 5, 12],
  [4, 16, 8],
  [5, 3, 9],
  [7, 257, 5],
  [9, 2, 1],
  [1, 300, 17],
  [4, 513, 24],
  [16, 40, 33],
  [33, 16, 10],
  [130, 260, 20],
  [600, 256, 8], // More rows than a packed block of A.
];

let simd: Simd;
beforeAll(async () => {
  await startWasmBackend();
  simd = simdOf(tf.backend() as BackendWasm);
});

describe.each([
  [false, false],
  [true, false],
  [false, true],
  [true, true],
])("a product, operands transposed %p %p", (ta, tb) => {
  it.each(sizes)("of %i × %i by %i columns", (m, k, n) => {
    const [a, b] = [values(m * k, 1), values(k * n, 2)];
    const exact = reference(a, b, { m, k, n }, ta, tb);
    const ours = multiply(a, b, { m, k, n }, ta, tb);
    const added = multiply(a, b, { m, k, n }, ta, tb, true);
    // The error bound of an ordered sum of k products with operands of at most 1.
    const bound = k * k * 2 ** -24 + 2 ** -22;
    for (let i = 0; i < m * n; i++) {
      if (!(Math.abs(ours[i]! - exact[i]!) <= bound)) throw new Error(`element ${i} is ${ours[i]}, not ${exact[i]}`);
      if (!(Math.abs(added[i]! - exact[i]! - 1) <= 2 * bound)) throw new Error(`element ${i} grew to ${added[i]}`);
    }
  });
});

describe("the bits of a product", () => {
  it("of a row do not depend on other rows, nor those of a column on other columns", () => {
    const { m, k, n } = { m: 37, k: 530, n: 27 };
    const [a, b] = [values(m * k, 3), values(k * n, 4)];
    const whole = multiply(a, b, { m, k, n });
    for (const rows of [1, 2, 3, 4, 5, 16]) {
      expect(multiply(a.slice(0, rows * k), b, { m: rows, k, n })).toEqual(whole.slice(0, rows * n));
    }
    const narrow = Float32Array.from({ length: k * 3 }, (_, i) => b[Math.floor(i / 3) * n + (i % 3)]!);
    const part = multiply(a, narrow, { m, k, n: 3 });
    for (let i = 0; i < m * 3; i++) expect(part[i]).toBe(whole[Math.floor(i / 3) * n + (i % 3)]);
  });

  it("do not depend on how the operands are stored", () => {
    const { m, k, n } = { m: 11, k: 300, n: 13 };
    const [a, b] = [values(m * k, 5), values(k * n, 6)];
    const transposed = (x: Float32Array, rows: number, columns: number): Float32Array =>
      Float32Array.from({ length: x.length }, (_, i) => x[(i % rows) * columns + Math.floor(i / rows)]!);
    const plain = multiply(a, b, { m, k, n });
    expect(multiply(transposed(a, m, k), transposed(b, k, n), { m, k, n }, true, true)).toEqual(plain);
  });

  it("are those of products added in the order of k, within a block", () => {
    const [a, b] = [values(200, 7), values(200, 8)];
    const round = multiplyAdd() === "fused" ? (product: number) => product : Math.fround;
    let sum = 0;
    for (let k = 0; k < 200; k++) sum = Math.fround(sum + round(a[k]! * b[k]!));
    expect(multiply(a, b, { m: 1, k: 200, n: 1 })[0]).toBe(sum);
  });
});

it("carries NaN and infinity only to the elements that depend on them", () => {
  const { m, k, n } = { m: 6, k: 9, n: 10 };
  const [a, b] = [values(m * k, 1), values(k * n, 2).fill(1)];
  a[2 * k + 3] = Number.NaN;
  a[4 * k + 8] = Number.POSITIVE_INFINITY;
  const product = multiply(a, b, { m, k, n });
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      if (i === 2) expect(product[i * n + j]).toBeNaN();
      else if (i === 4) expect(product[i * n + j]).toBe(Number.POSITIVE_INFINITY);
      else expect(Number.isFinite(product[i * n + j])).toBe(true);
    }
  }
});

it("is zero for an empty sum", () => {
  expect([...multiply(new Float32Array(0), new Float32Array(0), { m: 2, k: 0, n: 2 })]).toEqual([0, 0, 0, 0]);
});

it.each([
  [10, 4, "0+4 4+3 7+3"],
  [8, 4, "0+4 4+4"],
  [3, 256, "0+3"],
  [0, 4, ""],
])("cuts %i into blocks of at most %i, as even as can be: %s", (total, most, expected) => {
  expect(
    blocks(total, most)
      .map(([first, size]) => `${first}+${size}`)
      .join(" "),
  ).toBe(expected);
});

it.each([
  [8, "2 of 4 at 0"],
  [9, "3 of 3 at 0"],
  [10, "1 of 4 at 0, 2 of 3 at 4"],
  [1, "1 of 1 at 0"],
])("cuts %i rows into panels without padding: %s", (rows, expected) => {
  const panels = panelsOf(rows, 4).map(({ rows, count, first }) => `${count} of ${rows} at ${first}`);
  expect(panels.join(", ")).toBe(expected);
});
