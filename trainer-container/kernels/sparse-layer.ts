/**
 * A dense layer over sparse rows. The order is fixed, each operation rounds to float32: an output is ((0 + v₀·w₀) +
 * v₁·w₁ …) + bias, then rectified; a gradient's element 0 + v·dz … over the rows in order.
 */

import type { SparseInputs } from "../../core/features/sparse";
import type { Code } from "../wasm/encoding";
import { advance, f32, f32x4, i32, ifElse, local, v128, whileLoop } from "../wasm/instructions";
import type { ValueType, WasmFunction } from "../wasm/module";
import { allocateSum, inSumMemory, kernelsInSumMemory, releaseSum } from "./sum-memory";

/** A layer's kernel `[inputs, units]` and bias `[units]`: weights, or their gradient. */
export interface DenseParameters {
  readonly kernel: Float32Array;
  readonly bias: Float32Array;
}

/** The kernels' parameters, then their variables. */
const [rows, entries, width, offsets, values, kernel, bias, outputs, rectified] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const [column, pair, value, left, address] = [9, 10, 11, 12, 13];
const [factor, single, firstVector, firstSingle] = [14, 15, 16, 24];
const get = local.get;
/** Vectors in registers at the same time. */
const wide = 8;

/** A part of a row of outputs: vectors of four columns, or one column. */
interface Part {
  readonly bytes: number;
  readonly splat: Code;
  readonly each: (body: (index: number, offset: number) => Code) => Code;
  readonly load: (at: Code, offset: number) => Code;
  readonly store: (at: Code, value: Code, offset: number) => Code;
  readonly addProduct: (sum: Code, other: Code) => Code;
  readonly add: (a: Code, b: Code) => Code;
  readonly max: (a: Code, b: Code) => Code;
  readonly zero: Code;
  readonly held: (index: number) => number;
}

const vectors = (count: number): Part => ({
  bytes: count * 16,
  splat: local.set(factor, v128.load32Splat(get(value))),
  each: (body) => Array.from({ length: count }, (_, index) => body(index, index * 16)).flat(),
  load: v128.load,
  store: v128.store,
  addProduct: (sum, other) => f32x4.add(sum, f32x4.mul(get(factor), other)),
  add: f32x4.add,
  max: f32x4.max,
  zero: v128.constI32([0, 0, 0, 0]),
  held: (index) => firstVector + index,
});

const one: Part = {
  bytes: 4,
  splat: local.set(single, f32.load(get(value))),
  each: (body) => body(0, 0),
  load: f32.load,
  store: f32.store,
  addProduct: (sum, other) => f32.add(sum, f32.mul(get(single), other)),
  add: f32.add,
  max: f32.max,
  zero: f32.const(0),
  held: () => firstSingle,
};

/** Generates a loop over rows and their columns, in the widest parts that fit. */
function overRows(name: string, part: (part: Part) => Code): WasmFunction {
  const sweep = (each: Part): Code =>
    whileLoop(
      i32.geU(i32.sub(get(width), get(column)), i32.const(each.bytes)),
      part(each),
      advance(column, each.bytes),
    );
  const locals: readonly ValueType[] = ["i32", "i32", "i32", "i32", "i32", "v128", "f32"];
  return {
    name,
    params: Array.from({ length: rectified + 1 }, () => "i32" as const),
    locals: [...locals, ...Array.from({ length: wide }, () => "v128" as const), "f32"],
    body: [
      whileLoop(
        get(rows),
        local.set(column, i32.const(0)),
        ...[vectors(wide), vectors(1), one].map(sweep),
        local.set(offsets, i32.add(get(offsets), i32.mul(get(entries), i32.const(4)))),
        local.set(values, i32.add(get(values), i32.mul(get(entries), i32.const(4)))),
        local.set(outputs, i32.add(get(outputs), get(width))),
        advance(rows, -1),
      ),
    ],
  };
}

/** Generates a loop over the row's pairs, with `address` at the columns of the pair's row of the kernel. */
const overPairs = ({ splat }: Part, body: Code): Code => [
  ...local.set(pair, get(offsets)),
  ...local.set(value, get(values)),
  ...local.set(left, get(entries)),
  ...whileLoop(
    get(left),
    local.set(address, i32.add(i32.add(get(kernel), i32.load(get(pair))), get(column))),
    splat,
    body,
    advance(pair, 4),
    advance(value, 4),
    advance(left, -1),
  ),
];

const atColumn = (array: number): Code => i32.add(get(array), get(column));

/** `offsets` are bytes from `kernel`; `width` is the size of a row of outputs in bytes. */
const forwardKernel = overRows("forward", (part) => {
  const { each, load, store, add, addProduct, max, zero, held } = part;
  return [
    ...each((index) => local.set(held(index), zero)),
    ...overPairs(
      part,
      each((index, offset) => local.set(held(index), addProduct(get(held(index)), load(get(address), offset)))),
    ),
    ...each((index, offset) => local.set(held(index), add(get(held(index)), load(atColumn(bias), offset)))),
    ...ifElse(
      get(rectified),
      each((index) => local.set(held(index), max(get(held(index)), zero))),
    ),
    ...each((index, offset) => store(atColumn(outputs), get(held(index)), offset)),
  ];
});

/** Adds to `kernel` and `bias`. */
const backwardKernel = overRows("backward", (part) => {
  const { each, load, store, add, addProduct, held } = part;
  return [
    ...each((index, offset) => local.set(held(index), load(atColumn(outputs), offset))),
    ...each((index, offset) => store(atColumn(bias), add(load(atColumn(bias), offset), get(held(index))), offset)),
    ...overPairs(
      part,
      each((index, offset) => store(get(address), addProduct(load(get(address), offset), get(held(index))), offset)),
    ),
  ];
});

const kernels = kernelsInSumMemory([forwardKernel, backwardKernel]);

/** Pairs in the kernels' format: offsets into a layer's kernel, and values. */
let room: { readonly offsets: Float32Array; readonly values: Float32Array } | undefined;

function roomFor(pairs: number): NonNullable<typeof room> {
  if (room !== undefined && room.offsets.length >= pairs) return room;
  if (room) for (const each of [room.offsets, room.values]) releaseSum(each);
  room = { offsets: allocateSum(pairs), values: allocateSum(pairs) };
  return room;
}

/** @throws RangeError on a position outside the inputs: a kernel would write into another array */
function call(
  name: "forward" | "backward",
  inputs: SparseInputs,
  layer: DenseParameters,
  out: Float32Array,
  rectify = false,
): boolean {
  const units = layer.bias.length;
  const rowCount = out.length / units;
  const pairs = rowCount * inputs.entries;
  const size = layer.kernel.length / units;
  const { positions } = inputs;
  if (positions.length < pairs || inputs.values.length < pairs) {
    throw new RangeError(`${rowCount} rows take ${pairs} pairs; got ${positions.length}, ${inputs.values.length}`);
  }
  const at = roomFor(pairs);
  const bytes = new Int32Array(at.offsets.buffer, at.offsets.byteOffset, pairs);
  for (let i = 0; i < pairs; i += 1) {
    const position = positions[i]!;
    if (!(position >= 0 && position < size)) {
      throw new RangeError(`a row has a value at ${position}, but the layer has ${size} inputs`);
    }
    bytes[i] = position * units * 4;
  }
  if (kernels === undefined || !inSumMemory(at.offsets, at.values, layer.kernel, layer.bias, out)) return false;
  at.values.set(inputs.values.length === pairs ? inputs.values : inputs.values.subarray(0, pairs));
  const addresses = [at.offsets, at.values, layer.kernel, layer.bias, out].map(({ byteOffset }) => byteOffset);
  kernels[name]!(rowCount, inputs.entries, units * 4, ...addresses, rectify ? 1 : 0);
  return true;
}

/** Computes `out`, `[rows, units]`; if rectified, negative values become 0. @throws RangeError */
export function sparseForward(
  inputs: SparseInputs,
  weights: DenseParameters,
  out: Float32Array,
  rectify: boolean,
): void {
  if (!call("forward", inputs, weights, out, rectify)) forwardInJavaScript(inputs, weights, out, rectify);
}

/** Computes the gradient from `dz`, that of the outputs. @throws RangeError */
export function sparseBackward(inputs: SparseInputs, dz: Float32Array, gradient: DenseParameters): void {
  gradient.kernel.fill(0);
  gradient.bias.fill(0);
  if (!call("backward", inputs, gradient, dz)) backwardInJavaScript(inputs, dz, gradient);
}

const { fround } = Math;

/** Gives the kernel's bits for arrays outside the memory of sums. */
export function forwardInJavaScript(
  { entries: count, positions, values: factors }: SparseInputs,
  layer: DenseParameters,
  out: Float32Array,
  rectify: boolean,
): void {
  const units = layer.bias.length;
  for (let row = 0; row * units < out.length; row += 1) {
    for (let unit = 0; unit < units; unit += 1) {
      let sum = 0;
      for (let i = row * count; i < (row + 1) * count; i += 1) {
        sum = fround(sum + fround(factors[i]! * layer.kernel[positions[i]! * units + unit]!));
      }
      const z = fround(sum + layer.bias[unit]!);
      out[row * units + unit] = rectify ? Math.max(z, 0) : z;
    }
  }
}

/** Gives the kernel's bits. Adds to the gradient. */
export function backwardInJavaScript(
  { entries: count, positions, values: factors }: SparseInputs,
  dz: Float32Array,
  gradient: DenseParameters,
): void {
  const units = gradient.bias.length;
  for (let row = 0; row * units < dz.length; row += 1) {
    for (let unit = 0; unit < units; unit += 1) {
      const d = dz[row * units + unit]!;
      gradient.bias[unit] = gradient.bias[unit]! + d;
      for (let i = row * count; i < (row + 1) * count; i += 1) {
        const at = positions[i]! * units + unit;
        gradient.kernel[at] = gradient.kernel[at]! + fround(factors[i]! * d);
      }
    }
  }
}
