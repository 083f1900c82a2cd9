/** Sigmoid and tanh of four lanes, in float32 arithmetic without fused products: equal bits on every machine. */
import type { Code } from "../../wasm/encoding";
import { f32, f32x4, i32, i32x4, local } from "../../wasm/instructions";
import type { ValueType } from "../../wasm/module";

/** exp by Cephes' expf (Moshier): e^r for |r| ≤ ln(2) / 2 is 1 + r + r² · p(r), with ln(2) in two parts. */
const expNumbers = {
  log2e: Math.LOG2E,
  ln2High: 0.693359375,
  ln2Low: -2.1219444e-4,
  p0: 1.98756915e-4,
  p1: 1.3981999507e-3,
  p2: 8.3334519073e-3,
  p3: 4.1665795894e-2,
  p4: 1.6666665459e-1,
  p5: 0.50000001201,
  /** e^x is a normal number between these. */
  minExponent: -87,
  largestExponent: 88,
} as const;

/** tanh(x) = x · a(x²) / b(x²) for |x| ≤ bound, and ±1 to the last bit beyond (Eigen, ptanh_float). */
const tanhNumbers = {
  bound: 7.905311,
  a1: 4.89352455891786e-3,
  a3: 6.37261928875436e-4,
  a5: 1.48572235717979e-5,
  a7: 5.12229709037114e-8,
  a9: -8.60467152213735e-11,
  a11: 2.00018790482477e-13,
  a13: -2.76076847742355e-16,
  b0: 4.89352518554385e-3,
  b2: 2.268434632439e-3,
  b4: 1.18534705686654e-4,
  b6: 1.19825839466702e-6,
} as const;

const numbers = { one: 1, ...expNumbers, ...tanhNumbers };
type NumberName = keyof typeof numbers;
const names = Object.keys(numbers) as readonly NumberName[];

/** Locals of a function that uses `sigmoid` and `tanh`. */
export const activationLocals = {
  ...(Object.fromEntries(names.map((each) => [each, "v128"])) as Record<NumberName, "v128">),
  exponent: "v128",
  rest: "v128",
  square: "v128",
} as const satisfies Readonly<Record<string, ValueType>>;

export type ActivationVariables = Readonly<Record<keyof typeof activationLocals, number>>;

const { get, set } = local;

/** Sets the locals. */
export const loadNumbers = (v: ActivationVariables): Code =>
  names.flatMap((each) => set(v[each], f32x4.splat(f32.const(numbers[each]))));

/** Computes ((c₀ · x + c₁) · x + …) in this order. */
const polynomial = (x: Code, coefficients: readonly number[]): Code =>
  coefficients
    .slice(1)
    .reduce<Code>(
      (value, coefficient) => f32x4.add(f32x4.mul(value, x), get(coefficient)),
      get(coefficients[0] as number),
    );

const clamp = (x: Code, least: Code, largest: Code): Code => f32x4.min(f32x4.max(x, least), largest);

/** Replaces local `x` by 1 / (1 + e^−x). NaN stays NaN. */
export function sigmoid(v: ActivationVariables, x: number): Code {
  const rest = get(v.rest);
  const power = i32x4.shl(i32x4.add(i32x4.truncateF32x4(get(v.exponent)), i32x4.splat(i32.const(127))), i32.const(23));
  const p = polynomial(rest, [v.p0, v.p1, v.p2, v.p3, v.p4, v.p5]);
  const fraction = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(rest, rest)), rest), get(v.one));
  return [
    ...set(v.rest, clamp(f32x4.neg(get(x)), get(v.minExponent), get(v.largestExponent))),
    ...set(v.exponent, f32x4.nearest(f32x4.mul(rest, get(v.log2e)))),
    ...set(v.rest, f32x4.sub(rest, f32x4.mul(get(v.exponent), get(v.ln2High)))),
    ...set(v.rest, f32x4.sub(rest, f32x4.mul(get(v.exponent), get(v.ln2Low)))),
    ...set(x, f32x4.div(get(v.one), f32x4.add(get(v.one), f32x4.mul(fraction, power)))),
  ];
}

/** Replaces local `x` by its hyperbolic tangent. NaN stays NaN. */
export function tanh(v: ActivationVariables, x: number): Code {
  const square = get(v.square);
  const a = polynomial(square, [v.a13, v.a11, v.a9, v.a7, v.a5, v.a3, v.a1]);
  const b = polynomial(square, [v.b6, v.b4, v.b2, v.b0]);
  return [
    ...set(x, clamp(get(x), f32x4.neg(get(v.bound)), get(v.bound))),
    ...set(v.square, f32x4.mul(get(x), get(x))),
    ...set(x, f32x4.div(f32x4.mul(get(x), a), b)),
  ];
}
