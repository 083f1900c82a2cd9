import {
  addPackedInJavaScript,
  type NarrowFormat,
  packInJavaScript,
  unpackInJavaScript,
} from "../../core/training/narrow-format";
import type { Code } from "../wasm/encoding";
import { advance, f32x4, i16x8, i32, i32x4, local, v128, whileLoop } from "../wasm/instructions";
import type { ValueType, WasmFunction } from "../wasm/module";
import { inSumMemory, kernelsInSumMemory } from "./sum-memory";

/**
 * SIMD kernels that round to 16 bits, pack, and add packed vectors: lane by lane as `core/training/narrow-format.ts` does.
 */

const get = local.get;
const bits = (count: number): Code => i32.const(count);
const magnitudeMask = 0x7fff_ffff;
const infinity = 0x7f80_0000;
const highHalves = 0xffff_0000;

/** Constant vectors in locals that are set before the loop. Inside the loop they would cost more than their use. */
class Constants {
  private readonly values: number[] = [];
  constructor(private readonly firstLocal: number) {}

  readonly all = (value: number): Code => {
    const index = this.values.indexOf(value);
    return get(this.firstLocal + (index >= 0 ? index : this.values.push(value) - 1));
  };

  get locals(): readonly ValueType[] {
    return this.values.map(() => "v128");
  }

  set(): Code {
    return this.values.flatMap((value, i) => local.set(this.firstLocal + i, i32x4.splat(i32.const(value | 0))));
  }
}

/** Lanes of a format: 32 bits, of which float16 and bfloat16 use the high half. */
interface Lanes {
  /** Writes the rounded 16 bits of the float32 lanes in local `value` to the high halves of local `into`. May change `value`. */
  readonly encode: (value: number, into: number, scratch: number, all: Constants["all"]) => Code;
  /** Returns float32 lanes of the high halves. The low halves are ignored. */
  readonly decode: (highHalf: Code, scratch: number, all: Constants["all"]) => Code;
}

const bfloat16: Lanes = {
  encode: (value, into, _scratch, all) => {
    const odd = v128.and(i32x4.shrU(get(value), bits(16)), all(1));
    const rounded = i32x4.add(i32x4.add(get(value), all(0x7fff)), odd);
    return local.set(into, v128.bitselect(all(0x7fc0_0000), rounded, f32x4.ne(get(value), get(value))));
  },
  decode: (highHalf, _scratch, all) => v128.and(highHalf, all(highHalves)),
};

const half = 0x3f00_0000;
const float16: Lanes = {
  encode: (value, into, sign, all) => {
    const lifted = i32x4.sub(f32x4.add(get(value), all(half)), all(half));
    const odd = v128.and(i32x4.shrU(get(value), bits(13)), all(1));
    const normal = i32x4.shrU(i32x4.add(i32x4.add(get(value), all(0xfff - (112 << 23))), odd), bits(13));
    return [
      ...local.set(sign, v128.and(get(value), all(0x8000_0000))),
      ...local.set(value, v128.and(get(value), all(magnitudeMask))),
      ...local.set(into, v128.bitselect(lifted, normal, i32x4.gtS(all(0x3880_0000), get(value)))),
      ...local.set(into, v128.bitselect(all(0x7c00), get(into), i32x4.gtS(get(value), all(0x4780_0000 - 1)))),
      ...local.set(into, v128.or(i32x4.shl(get(into), bits(16)), get(sign))),
      ...local.set(into, v128.bitselect(all(0x7e00_0000), get(into), i32x4.gtS(get(value), all(infinity)))),
    ];
  },
  decode: (highHalf, scratch, all) => {
    // The sign stays in place; exponent and mantissa move three bits down.
    const moved = local.tee(scratch, v128.and(i32x4.shrS(highHalf, bits(3)), all(0x8fff_e000)));
    const scaled = f32x4.mul(moved, all(0x7780_0000)); // 2¹¹²
    const greatest = all(0x0f80_0000);
    const special = i32x4.eq(v128.and(get(scratch), greatest), greatest);
    return v128.or(scaled, v128.and(special, all(infinity)));
  },
};

/** Elements per iteration of packing, and words per iteration of adding. */
const [packedATurn, wordsATurn] = [8, 4];

/** `(values, into, count, scale)`; count is a multiple of 8. */
function packKernel(name: string, { encode }: Lanes): WasmFunction {
  const [values, into, count, scale, splat, x, low, high, scratch] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const constants = new Constants(9);
  const loop = [
    local.set(x, f32x4.mul(v128.load(get(values)), get(splat))),
    encode(x, low, scratch, constants.all),
    local.set(x, f32x4.mul(v128.load(get(values), 16), get(splat))),
    encode(x, high, scratch, constants.all),
    v128.store(get(into), i16x8.narrowI32U(i32x4.shrU(get(low), bits(16)), i32x4.shrU(get(high), bits(16)))),
    advance(values, packedATurn * 4),
    advance(into, packedATurn * 2),
    advance(count, -packedATurn),
  ];
  return {
    name,
    params: ["i32", "i32", "i32", "f32"],
    locals: ["v128", "v128", "v128", "v128", "v128", ...constants.locals],
    body: [local.set(splat, f32x4.splat(get(scale))), constants.set(), whileLoop(get(count), ...loop)],
  };
}

/** `(words, into, count)`; count of elements, a multiple of 8. */
function unpackKernel(name: string, { decode }: Lanes): WasmFunction {
  const [words, into, count, halves, scratch] = [0, 1, 2, 3, 4];
  const constants = new Constants(5);
  const loop = [
    local.set(halves, v128.load(get(words))),
    v128.store(get(into), decode(i32x4.shl(i32x4.extendLowI16U(get(halves)), bits(16)), scratch, constants.all)),
    v128.store(get(into), decode(i32x4.shl(i32x4.extendHighI16U(get(halves)), bits(16)), scratch, constants.all), 16),
    advance(words, packedATurn * 2),
    advance(into, packedATurn * 4),
    advance(count, -packedATurn),
  ];
  return {
    name,
    params: ["i32", "i32", "i32"],
    locals: ["v128", "v128", ...constants.locals],
    body: [constants.set(), whileLoop(get(count), ...loop)],
  };
}

/** `(out, a, b, words)`; words is a multiple of 4. */
function addKernel(name: string, { encode, decode }: Lanes): WasmFunction {
  const [out, a, b, count, left, right, x, low, high, scratch] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const constants = new Constants(10);
  const { all } = constants;
  const lowHalf = (word: number) => i32x4.shl(get(word), bits(16));
  const sum = (of: (word: number) => Code, into: number) => [
    ...local.set(x, f32x4.add(decode(of(left), scratch, all), decode(of(right), scratch, all))),
    ...encode(x, into, scratch, all),
  ];
  const loop = [
    local.set(left, v128.load(get(a))),
    local.set(right, v128.load(get(b))),
    sum(lowHalf, low),
    sum(get, high),
    v128.store(get(out), v128.or(i32x4.shrU(get(low), bits(16)), v128.and(get(high), all(highHalves)))),
    [out, a, b].flatMap((pointer) => advance(pointer, wordsATurn * 4)),
    advance(count, -wordsATurn),
  ];
  return {
    name,
    params: ["i32", "i32", "i32", "i32"],
    locals: ["v128", "v128", "v128", "v128", "v128", "v128", ...constants.locals],
    body: [constants.set(), whileLoop(get(count), ...loop)],
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

/** The part of `count` that a kernel processes; JavaScript processes the rest. */
const wholeTurns = (count: number, turn: number, ...arrays: readonly Float32Array[]) =>
  kernels !== undefined && inSumMemory(...arrays) ? count - (count % turn) : 0;

/** See `packInJavaScript`. @param into ⌈values / 2⌉ words. */
export function pack(format: NarrowFormat, values: Float32Array, scale: number, into: Float32Array): void {
  requireLength(into, Math.ceil(values.length / 2));
  const done = wholeTurns(values.length, packedATurn, values, into);
  if (done > 0) kernels![`pack ${format}`]!(values.byteOffset, into.byteOffset, done, scale);
  packInJavaScript(format, values.subarray(done), scale, into.subarray(done / 2));
}

/** See `unpackInJavaScript`. @param words ⌈into / 2⌉ words */
export function unpack(format: NarrowFormat, words: Float32Array, into: Float32Array): void {
  requireLength(words, Math.ceil(into.length / 2));
  const done = wholeTurns(into.length, packedATurn, words, into);
  if (done > 0) kernels![`unpack ${format}`]!(words.byteOffset, into.byteOffset, done);
  unpackInJavaScript(format, words.subarray(done / 2), into.subarray(done));
}

/** See `addPackedInJavaScript`. All three arrays have the same length. */
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
