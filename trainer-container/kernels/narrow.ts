import {
  addPackedInJavaScript,
  type NarrowFormat,
  packInJavaScript,
  unpackInJavaScript,
} from "../../core/training/reduction/narrow-format";
import type { Code } from "../../core/wasm/encoding";
import { advance, f32x4, i16x8, i32, i32x4, local, v128, whileLoop } from "../../core/wasm/instructions";
import type { WasmFunction } from "../../core/wasm/module";
import { inSumMemory, kernelsInSumMemory } from "../collective/sum-memory";

/**
 * Rounding to 16 bits, packing and adding of packed vectors as SIMD kernels: lane by lane what `core/training/reduction/narrow-format.ts` does.
 */

const all = (value: number): Code => i32x4.splat(i32.const(value));
const bits = (count: number): Code => i32.const(count);
const magnitudeMask = 0x7fff_ffff;
const infinity = 0x7f80_0000;

interface Lanes {
  /** Sets `into` to the 16 bits, in the low half of each lane, of the float32 lanes in local `value`, which it may change. */
  readonly encode: (value: number, into: number, scratch: number) => Code;
  /** Float32 lanes of the 16 bits in the low halves of local `half`. */
  readonly decode: (half: number) => Code;
}

const get = local.get;

const bfloat16: Lanes = {
  encode: (value, into, scratch) => [
    ...local.set(scratch, i32x4.gtS(v128.and(get(value), all(magnitudeMask)), all(infinity))),
    ...local.set(
      into,
      i32x4.shrU(
        i32x4.add(i32x4.add(get(value), all(0x7fff)), v128.and(i32x4.shrU(get(value), bits(16)), all(1))),
        bits(16),
      ),
    ),
    ...local.set(into, v128.bitselect(all(0x7fc0), get(into), get(scratch))),
  ],
  decode: (half) => i32x4.shl(get(half), bits(16)),
};

const half = 0x3f00_0000;
const float16: Lanes = {
  encode: (value, into, scratch) => {
    const lifted = i32x4.sub(f32x4.add(get(value), all(half)), all(half));
    const odd = v128.and(i32x4.shrU(get(value), bits(13)), all(1));
    const normal = i32x4.shrU(i32x4.add(i32x4.sub(get(value), all((112 << 23) - 0xfff)), odd), bits(13));
    return [
      ...local.set(scratch, v128.and(i32x4.shrU(get(value), bits(16)), all(0x8000))),
      ...local.set(value, v128.and(get(value), all(magnitudeMask))),
      ...local.set(into, v128.bitselect(lifted, normal, i32x4.gtS(all(0x3880_0000), get(value)))),
      ...local.set(into, v128.bitselect(all(0x7c00), get(into), i32x4.gtS(get(value), all(0x4780_0000 - 1)))),
      ...local.set(into, v128.or(get(into), get(scratch))),
      ...local.set(into, v128.bitselect(all(0x7e00), get(into), i32x4.gtS(get(value), all(infinity)))),
    ];
  },
  decode: (half16) => {
    const magnitude = i32x4.shl(v128.and(get(half16), all(0x7fff)), bits(13));
    const special = v128.and(i32x4.gtS(magnitude, all(0x0f80_0000 - 1)), all(infinity));
    const scaled = f32x4.mul(magnitude, all(0x7780_0000)); // 2¹¹²
    const sign = i32x4.shl(v128.and(get(half16), all(0x8000)), bits(16));
    return v128.or(v128.or(scaled, special), sign);
  },
};

/** Elements of one turn of packing, and words of one turn of adding. */
const [packedATurn, wordsATurn] = [8, 4];

/** `(values, into, count, scale)`; count is a multiple of 8. */
function packKernel(name: string, { encode }: Lanes): WasmFunction {
  const [values, into, count, scale, splat, x, low, high, scratch] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  return {
    name,
    params: ["i32", "i32", "i32", "f32"],
    locals: ["v128", "v128", "v128", "v128", "v128"],
    body: [
      local.set(splat, f32x4.splat(get(scale))),
      whileLoop(
        get(count),
        local.set(x, f32x4.mul(v128.load(get(values)), get(splat))),
        encode(x, low, scratch),
        local.set(x, f32x4.mul(v128.load(get(values), 16), get(splat))),
        encode(x, high, scratch),
        v128.store(get(into), i16x8.narrowI32U(get(low), get(high))),
        advance(values, packedATurn * 4),
        advance(into, packedATurn * 2),
        advance(count, -packedATurn),
      ),
    ],
  };
}

/** `(words, into, count)`; count of elements, a multiple of 8. */
function unpackKernel(name: string, { decode }: Lanes): WasmFunction {
  const [words, into, count, halves] = [0, 1, 2, 3];
  return {
    name,
    params: ["i32", "i32", "i32"],
    locals: ["v128"],
    body: [
      whileLoop(
        get(count),
        local.set(halves, i32x4.extendLowI16U(v128.load(get(words)))),
        v128.store(get(into), decode(halves)),
        local.set(halves, i32x4.extendHighI16U(v128.load(get(words)))),
        v128.store(get(into), decode(halves), 16),
        advance(words, packedATurn * 2),
        advance(into, packedATurn * 4),
        advance(count, -packedATurn),
      ),
    ],
  };
}

/** `(out, a, b, words)`; words is a multiple of 4. */
function addKernel(name: string, { encode, decode }: Lanes): WasmFunction {
  const [out, a, b, count, left, right, x, low, high, scratch] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const lowOf = (pointer: number) => v128.and(v128.load(get(pointer)), all(0xffff));
  const highOf = (pointer: number) => i32x4.shrU(v128.load(get(pointer)), bits(16));
  const sum = (of: (pointer: number) => Code, into: number) => [
    ...local.set(left, of(a)),
    ...local.set(right, of(b)),
    ...local.set(x, f32x4.add(decode(left), decode(right))),
    ...encode(x, into, scratch),
  ];
  return {
    name,
    params: ["i32", "i32", "i32", "i32"],
    locals: ["v128", "v128", "v128", "v128", "v128", "v128"],
    body: [
      whileLoop(
        get(count),
        sum(lowOf, low),
        sum(highOf, high),
        v128.store(get(out), v128.or(get(low), i32x4.shl(get(high), bits(16)))),
        [out, a, b].flatMap((pointer) => advance(pointer, wordsATurn * 4)),
        advance(count, -wordsATurn),
      ),
    ],
  };
}

const lanesOf: Readonly<Record<NarrowFormat, Lanes>> = { bfloat16, float16 };
const kernels = kernelsInSumMemory(
  Object.entries(lanesOf).flatMap(([format, lanes]) => [
    packKernel(`pack ${format}`, lanes),
    unpackKernel(`unpack ${format}`, lanes),
    addKernel(`add ${format}`, lanes),
  ]),
);

/** What a kernel takes of `count`; the rest is JavaScript's. */
const wholeTurns = (count: number, turn: number, ...arrays: readonly Float32Array[]) =>
  kernels !== undefined && inSumMemory(...arrays) ? count - (count % turn) : 0;

/** See `packInJavaScript`. @param into ⌈values / 2⌉ words. */
export function pack(format: NarrowFormat, values: Float32Array, scale: number, into: Float32Array): void {
  requireLength(into, Math.ceil(values.length / 2));
  const done = wholeTurns(values.length, packedATurn, values, into);
  if (done > 0) kernels![`pack ${format}`]!(values.byteOffset, into.byteOffset, done, scale);
  packInJavaScript(format, values.subarray(done), scale, into.subarray(done / 2));
}

/** See `unpackInJavaScript`. @param words ⌈into / 2⌉ of them. */
export function unpack(format: NarrowFormat, words: Float32Array, into: Float32Array): void {
  requireLength(words, Math.ceil(into.length / 2));
  const done = wholeTurns(into.length, packedATurn, words, into);
  if (done > 0) kernels![`unpack ${format}`]!(words.byteOffset, into.byteOffset, done);
  unpackInJavaScript(format, words.subarray(done / 2), into.subarray(done));
}

/** See `addPackedInJavaScript`. All three have one length. */
export function addPacked(format: NarrowFormat, out: Float32Array, a: Float32Array, b: Float32Array): void {
  requireLength(a, out.length);
  requireLength(b, out.length);
  const done = wholeTurns(out.length, wordsATurn, out, a, b);
  if (done > 0) kernels![`add ${format}`]!(out.byteOffset, a.byteOffset, b.byteOffset, done);
  addPackedInJavaScript(format, out.subarray(done), a.subarray(done), b.subarray(done));
}

function requireLength(words: Float32Array, length: number): void {
  if (words.length !== length) throw new RangeError(`an array has ${words.length} words, but ${length} are needed`);
}
