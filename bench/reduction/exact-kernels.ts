/**
 * The exact integer sum as SIMD kernels, to compare it with the canonical tree. A block's greatest magnitude over all leaves
 * gives its exponent. Each leaf is rounded to fixed point by it and added as integers, in any order.
 *
 * `int64` holds its integers in float64, which adds integers below 2⁵³ exactly, because WebAssembly's SIMD cannot convert
 * float64 to 64-bit integers.
 */
import type { Code } from "../../adapters/wasm/encoding";
import { advance, f32x4, f64x2, i32, i32x4, local, v128, whileLoop } from "../../adapters/wasm/instructions";
import type { WasmFunction } from "../../adapters/wasm/module";
import { kernelsInSumMemory } from "../../trainer-container/collective/sum-memory";

const get = local.get;
/** 1.5 · 2⁵². Adding and subtracting it rounds to an integer. */
const rounder = 1.5 * 2 ** 52;

/** Generates a loop over blocks: code before, a loop over a block's elements by fours, code after. */
function blocked(blocks: number, left: number, blockElements: number, before: Code, loop: Code, after: Code): Code {
  return whileLoop(
    get(blocks),
    before,
    local.set(left, get(blockElements)),
    whileLoop(get(left), loop, advance(left, -4)),
    after,
    advance(blocks, -1),
  );
}

/** `(values, greatest, blocks, blockElements)`: `greatest[b] = max(greatest[b], max |values of b|)`. */
function maxKernel(): WasmFunction {
  const [values, greatest, blocks, blockElements, left, max] = [0, 1, 2, 3, 4, 5];
  const fold = (lanes: readonly number[]) => f32x4.max(get(max), v128.shuffle(get(max), get(max), lanes));
  return {
    name: "greatest",
    params: ["i32", "i32", "i32", "i32"],
    locals: ["i32", "v128"],
    body: [
      blocked(
        blocks,
        left,
        blockElements,
        local.set(max, v128.load32Splat(get(greatest))),
        [...local.set(max, f32x4.max(get(max), f32x4.abs(v128.load(get(values))))), ...advance(values, 16)],
        [
          ...local.set(max, fold([8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7])),
          ...local.set(max, fold([4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11])),
          ...i32.store(get(greatest), i32x4.extractLane(get(max), 0)),
          ...advance(greatest, 4),
        ],
      ),
    ],
  };
}

/** `(values, sums, scales, blocks, blockElements)`: `sums += round(values · scale of the block)`. */
function addKernel(name: "add int32" | "add int64"): WasmFunction {
  const [values, sums, scales, blocks, blockElements, left, scale] = [0, 1, 2, 3, 4, 5, 6];
  const narrow = name === "add int32";
  const rounded = i32x4.truncateF32x4(f32x4.nearest(f32x4.mul(v128.load(get(values)), get(scale))));
  const magic = f64x2.splat([0x44, ...new Uint8Array(Float64Array.of(rounder).buffer)]);
  const pair = (offset: number) => {
    const scaled = f64x2.mul(f64x2.promoteLowF32x4(v128.load64Zero(get(values), offset)), get(scale));
    const integer = f64x2.sub(f64x2.add(scaled, magic), magic);
    return v128.store(get(sums), f64x2.add(v128.load(get(sums), offset * 2), integer), offset * 2);
  };
  return {
    name,
    params: ["i32", "i32", "i32", "i32", "i32"],
    locals: ["i32", "v128"],
    body: [
      blocked(
        blocks,
        left,
        blockElements,
        local.set(scale, narrow ? v128.load32Splat(get(scales)) : v128.load64Splat(get(scales))),
        [
          ...(narrow ? v128.store(get(sums), i32x4.add(v128.load(get(sums)), rounded)) : [...pair(0), ...pair(8)]),
          ...advance(values, 16),
          ...advance(sums, narrow ? 16 : 32),
        ],
        advance(scales, narrow ? 4 : 8),
      ),
    ],
  };
}

/** `(sums, out, scales, blocks, blockElements)`: `out = sums · scale of the block`, rounded to float32. */
function takeKernel(name: "take int32" | "take int64"): WasmFunction {
  const [sums, out, scales, blocks, blockElements, left, scale] = [0, 1, 2, 3, 4, 5, 6];
  const narrow = name === "take int32";
  const pair = (offset: number) =>
    v128.store64(get(out), f32x4.demoteF64x2(f64x2.mul(v128.load(get(sums), offset * 2), get(scale))), offset);
  return {
    name,
    params: ["i32", "i32", "i32", "i32", "i32"],
    locals: ["i32", "v128"],
    body: [
      blocked(
        blocks,
        left,
        blockElements,
        local.set(scale, narrow ? v128.load32Splat(get(scales)) : v128.load64Splat(get(scales))),
        [
          ...(narrow
            ? v128.store(get(out), f32x4.mul(f32x4.convertI32x4(v128.load(get(sums))), get(scale)))
            : [...pair(0), ...pair(8)]),
          ...advance(sums, narrow ? 16 : 32),
          ...advance(out, 16),
        ],
        advance(scales, narrow ? 4 : 8),
      ),
    ],
  };
}

const kernels = kernelsInSumMemory([
  maxKernel(),
  addKernel("add int32"),
  addKernel("add int64"),
  takeKernel("take int32"),
  takeKernel("take int64"),
]);

export function exactKernel(
  name: "greatest" | "add int32" | "add int64" | "take int32" | "take int64",
): (...parameters: number[]) => number {
  if (kernels === undefined) throw new Error("this machine has no WebAssembly SIMD: the exact sum cannot be measured");
  return kernels[name]!;
}
