import type { Code } from "../wasm/encoding";
import { advance, f32, f32x4, i32, local, v128, whileLoop } from "../wasm/instructions";
import type { ValueType, WasmFunction } from "../wasm/module";

type Binary = (left: Code, right: Code) => Code;

/** Float32 arithmetic on four lanes or one. Each operation rounds to nearest even; lanes give the bits of the single one. */
export interface Arithmetic {
  readonly add: Binary;
  readonly sub: Binary;
  readonly mul: Binary;
  readonly div: Binary;
  readonly sqrt: (operand: Code) => Code;
  /** The element of array `index`. */
  readonly load: (index: number) => Code;
  readonly store: (index: number, value: Code) => Code;
  readonly scalar: (index: number) => Code;
  /** A value kept while one element is computed. */
  readonly get: (temporary: number) => Code;
  readonly set: (temporary: number, value: Code) => Code;
}

export interface Elementwise {
  readonly name: string;
  /** Number of float32 arrays, given as byte addresses: the first parameters. Then comes the count of elements. */
  readonly arrays: number;
  /** Number of float32 values that are the same for all elements: the last parameters. */
  readonly scalars: number;
  readonly temporaries: number;
  /** The same expression for four elements and for one, so that an element has the same bits at any position. */
  readonly body: (arithmetic: Arithmetic) => readonly Code[];
}

const lanes = 4;
/** Vectors per iteration, so that pointers move less often. */
const unrolled = 4;

/** Creates a kernel that computes each element of its arrays from the elements at the same index: `name(...addresses, count, ...scalars)`. */
export function elementwise({ name, arrays, scalars, temporaries, body }: Elementwise): WasmFunction {
  const count = arrays;
  const firstScalar = count + 1;
  const splats = firstScalar + scalars;
  const wide = splats + scalars;
  const narrow = wide + temporaries;
  const pointers = Array.from({ length: arrays }, (_, index) => index);
  const numbers = Array.from({ length: scalars }, (_, index) => index);
  /** The vector at an offset of `offset` bytes. */
  const vector = (offset: number): Arithmetic => ({
    ...f32x4,
    load: (index) => v128.load(local.get(index), offset),
    store: (index, value) => v128.store(local.get(index), value, offset),
    scalar: (index) => local.get(splats + index),
    get: (temporary) => local.get(wide + temporary),
    set: (temporary, value) => local.set(wide + temporary, value),
  });
  const step = (elements: number): Code => [
    ...pointers.flatMap((pointer) => advance(pointer, elements * Float32Array.BYTES_PER_ELEMENT)),
    ...advance(count, -elements),
  ];
  const vectors = (number: number): Code =>
    whileLoop(
      i32.geU(local.get(count), i32.const(lanes * number)),
      ...Array.from({ length: number }, (_, index) => body(vector(index * 16))).flat(),
      step(lanes * number),
    );
  const single: Arithmetic = {
    ...f32,
    load: (index) => f32.load(local.get(index)),
    store: (index, value) => f32.store(local.get(index), value),
    scalar: (index) => local.get(firstScalar + index),
    get: (temporary) => local.get(narrow + temporary),
    set: (temporary, value) => local.set(narrow + temporary, value),
  };
  const repeat = (length: number, type: ValueType) => new Array<ValueType>(length).fill(type);
  return {
    name,
    params: [...repeat(arrays, "i32"), "i32", ...repeat(scalars, "f32")],
    locals: [...repeat(scalars, "v128"), ...repeat(temporaries, "v128"), ...repeat(temporaries, "f32")],
    body: [
      ...numbers.map((index) => local.set(splats + index, f32x4.splat(local.get(firstScalar + index)))),
      vectors(unrolled),
      vectors(1),
      whileLoop(local.get(count), ...body(single), step(1)),
    ],
  };
}
