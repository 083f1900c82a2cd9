/**
 * Instructions of WebAssembly as functions that return their bytes. Operands come first, as in the folded text format.
 */
import { type Code, float32, float64, signed, unsigned } from "./encoding";

type Binary = (left: Code, right: Code) => Code;
type Unary = (operand: Code) => Code;

const binary =
  (...opcode: number[]): Binary =>
  (left, right) => [...left, ...right, ...opcode];
const unary =
  (...opcode: number[]): Unary =>
  (operand) => [...operand, ...opcode];
const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];
const load =
  (opcode: readonly number[], alignment: number) =>
  (address: Code, offset = 0): Code => [...address, ...opcode, alignment, ...unsigned(offset)];
const store =
  (opcode: readonly number[], alignment: number) =>
  (address: Code, value: Code, offset = 0): Code => [...address, ...value, ...opcode, alignment, ...unsigned(offset)];

export const local = {
  get: (index: number): Code => [0x20, ...unsigned(index)],
  set: (index: number, value: Code): Code => [...value, 0x21, ...unsigned(index)],
  tee: (index: number, value: Code): Code => [...value, 0x22, ...unsigned(index)],
};

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  load: load([0x28], 2),
  store: store([0x36], 2),
  load16u: load([0x2f], 1),
  store16: store([0x3b], 1),
  eqz: unary(0x45),
  eq: binary(0x46),
  ne: binary(0x47),
  ltU: binary(0x49),
  gtU: binary(0x4b),
  geU: binary(0x4f),
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  and: binary(0x71),
  or: binary(0x72),
  xor: binary(0x73),
  shl: binary(0x74),
  shrU: binary(0x76),
  reinterpretF32: unary(0xbc),
};

export const f32 = {
  const: (value: number): Code => [0x43, ...float32(value)],
  load: load([0x2a], 2),
  store: store([0x38], 2),
  sqrt: unary(0x91),
  add: binary(0x92),
  sub: binary(0x93),
  mul: binary(0x94),
  div: binary(0x95),
  max: binary(0x97),
  demoteF64: unary(0xb6),
  reinterpretI32: unary(0xbe),
};

export const f64 = {
  const: (value: number): Code => [0x44, ...float64(value)],
  load: load([0x2b], 3),
  store: store([0x39], 3),
  sqrt: unary(0x9f),
  add: binary(0xa0),
  sub: binary(0xa1),
  mul: binary(0xa2),
  div: binary(0xa3),
  promoteF32: unary(0xbb),
};

/** The loads and stores of vectors. Unaligned accesses are allowed, because the alignment is only a hint. */
export const v128 = {
  load: load(simd(0x00), 2),
  load32Splat: load(simd(0x09), 2),
  load64Splat: load(simd(0x0a), 2),
  /** Loads two float32 into the low half. */
  load64Zero: load(simd(0x5d), 2),
  /** Loads one float32 into the lowest lane. */
  load32Zero: load(simd(0x5c), 2),
  load16x4U: load(simd(0x04), 1),
  store: store(simd(0x0b), 2),
  store64: (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    ...simd(0x5b),
    2,
    ...unsigned(offset),
    0,
  ],
  constI32: (lanes: readonly [number, number, number, number]): Code => [
    ...simd(0x0c),
    ...new Uint8Array(Int32Array.from(lanes).buffer),
  ],
  not: unary(...simd(0x4d)),
  and: binary(...simd(0x4e)),
  andNot: binary(...simd(0x4f)),
  or: binary(...simd(0x50)),
  xor: binary(...simd(0x51)),
  /** Selects bits of `left` where `mask` is 1, else of `right`. */
  bitselect: (left: Code, right: Code, mask: Code): Code => [...left, ...right, ...mask, ...simd(0x52)],
  anyTrue: unary(...simd(0x53)),
  /** Selects bytes by index: 0–15 from `left` and 16–31 from `right`. */
  shuffle: (left: Code, right: Code, lanes: readonly number[]): Code => [...left, ...right, ...simd(0x0d), ...lanes],
};

const shift =
  (opcode: number) =>
  (operand: Code, bits: Code): Code => [...operand, ...bits, ...simd(opcode)];
const lane =
  (opcode: number) =>
  (operand: Code, index: number): Code => [...operand, ...simd(opcode), index];

export const i32x4 = {
  splat: unary(...simd(0x11)),
  extractLane: lane(0x1b),
  eq: binary(...simd(0x37)),
  ne: binary(...simd(0x38)),
  gtS: binary(...simd(0x3b)),
  gtU: binary(...simd(0x3c)),
  shl: shift(0xab),
  shrS: shift(0xac),
  shrU: shift(0xad),
  add: binary(...simd(0xae)),
  sub: binary(...simd(0xb1)),
  mul: binary(...simd(0xb5)),
  /** Rounds towards zero. A value that does not fit becomes the nearest one that does. */
  truncateF32x4: unary(...simd(0xf8)),
  extendLowI16U: unary(...simd(0xa9)),
  extendHighI16U: unary(...simd(0xaa)),
};

export const i16x8 = {
  /** Narrows eight 32-bit lanes to unsigned 16 bits with saturation. */
  narrowI32U: binary(...simd(0x86)),
};

export const f32x4 = {
  splat: unary(...simd(0x13)),
  extractLane: lane(0x1f),
  eq: binary(...simd(0x41)),
  ne: binary(...simd(0x42)),
  lt: binary(...simd(0x43)),
  gt: binary(...simd(0x44)),
  le: binary(...simd(0x45)),
  abs: unary(...simd(0xe0)),
  neg: unary(...simd(0xe1)),
  sqrt: unary(...simd(0xe3)),
  add: binary(...simd(0xe4)),
  sub: binary(...simd(0xe5)),
  mul: binary(...simd(0xe6)),
  div: binary(...simd(0xe7)),
  min: binary(...simd(0xe8)),
  max: binary(...simd(0xe9)),
  /** Computes a·b + c, rounded once or twice (`multiplyAdd`). Relaxed: not every engine has it. */
  relaxedMultiplyAdd: (a: Code, b: Code, c: Code): Code => [...a, ...b, ...c, ...simd(0x105)],
  /** Rounds to the nearest integer, and ties to even. */
  nearest: unary(...simd(0x6a)),
  convertI32x4: unary(...simd(0xfa)),
  /** Converts two float64 to the low two lanes, and sets the others to zero. */
  demoteF64x2: unary(...simd(0x5e)),
};

export const f64x2 = {
  splat: unary(...simd(0x14)),
  extractLane: lane(0x21),
  sqrt: unary(...simd(0xef)),
  add: binary(...simd(0xf0)),
  sub: binary(...simd(0xf1)),
  mul: binary(...simd(0xf2)),
  div: binary(...simd(0xf3)),
  /** Converts the low two float32. */
  promoteLowF32x4: unary(...simd(0x5f)),
};

export function call(index: number, ...operands: readonly Code[]): Code {
  return [...operands.flat(), 0x10, ...unsigned(index)];
}

export const memory = {
  copy: (to: Code, from: Code, bytes: Code): Code => [...to, ...from, ...bytes, 0xfc, 10, 0, 0],
  fill: (at: Code, byte: Code, bytes: Code): Code => [...at, ...byte, ...bytes, 0xfc, 11, 0],
};

/** Builds `label: { body }`. A branch to it continues after its end. */
export function block(...body: readonly Code[]): Code {
  return [0x02, 0x40, ...body.flat(), 0x0b];
}

/** Builds `label: body`. A branch to it continues at its beginning. */
export function loop(...body: readonly Code[]): Code {
  return [0x03, 0x40, ...body.flat(), 0x0b];
}

/** Branches to the label `depth` levels out. 0 is the innermost. */
export function branchIf(condition: Code, depth: number): Code {
  return [...condition, 0x0d, ...unsigned(depth)];
}

export function whileLoop(condition: Code, ...body: readonly Code[]): Code {
  return [0x03, 0x40, ...condition, 0x04, 0x40, ...body.flat(), 0x0c, 1, 0x0b, 0x0b];
}

export function ifElse(condition: Code, then: Code, otherwise: Code = []): Code {
  return [...condition, 0x04, 0x40, ...then, ...(otherwise.length > 0 ? [0x05, ...otherwise] : []), 0x0b];
}

/** Builds `local += amount` for an i32. */
export function advance(index: number, amount: number): Code {
  return local.set(index, i32.add(local.get(index), i32.const(amount)));
}
