/** An LSTM's elementwise part, in float32 without fused products: equal bits on every machine. Addresses in bytes. */
import type { Code } from "../../wasm/encoding";
import { advance, f32, f32x4, i32, i32x4, local, v128, whileLoop } from "../../wasm/instructions";
import type { ValueType, WasmFunction } from "../../wasm/module";
import { addTo, countDown, define, times } from "./define";

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

const activationLocals = {
  ...(Object.fromEntries(names.map((each) => [each, "v128"])) as Record<NumberName, "v128">),
  exponent: "v128",
  rest: "v128",
  square: "v128",
} as const satisfies Readonly<Record<string, ValueType>>;

type ActivationVariables = Readonly<Record<keyof typeof activationLocals, number>>;

const { get, set } = local;

const loadNumbers = (v: ActivationVariables): Code =>
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
function sigmoid(v: ActivationVariables, x: number): Code {
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
function tanh(v: ActivationVariables, x: number): Code {
  const square = get(v.square);
  const a = polynomial(square, [v.a13, v.a11, v.a9, v.a7, v.a5, v.a3, v.a1]);
  const b = polynomial(square, [v.b6, v.b4, v.b2, v.b0]);
  return [
    ...set(x, clamp(get(x), f32x4.neg(get(v.bound)), get(v.bound))),
    ...set(v.square, f32x4.mul(get(x), get(x))),
    ...set(x, f32x4.div(f32x4.mul(get(x), a), b)),
  ];
}

/** Accesses of four units, or of one in the lowest lane. */
interface Lanes {
  readonly units: number;
  readonly load: (address: Code) => Code;
  readonly store: (address: Code, value: Code) => Code;
}

const four: Lanes = { units: 4, load: v128.load, store: v128.store };
const single: Lanes = {
  units: 1,
  load: v128.load32Zero,
  store: (address, value) => f32.store(address, f32x4.extractLane(value, 0)),
};

/**
 * Repeats `step` for all units of all rows. The pointers move along; `wide` ones are rows of four gates, `bytes` apart.
 */
function forUnits(
  v: Readonly<Record<"rows" | "units" | "bytes" | "left", number>>,
  pointers: readonly number[],
  wide: readonly number[],
  step: (lanes: Lanes) => Code,
): Code {
  const move = ({ units }: Lanes): Code => [
    ...[...pointers, ...wide].flatMap((pointer) => advance(pointer, units * 4)),
    ...advance(v.left, -units),
  ];
  const part = (lanes: Lanes): Code =>
    whileLoop(i32.geU(get(v.left), i32.const(lanes.units)), step(lanes), move(lanes));
  return [
    ...set(v.bytes, times(v.units, 4)),
    ...countDown(
      v.rows,
      set(v.left, get(v.units)),
      part(four),
      part(single),
      ...wide.flatMap((pointer) => [addTo(pointer, v.bytes), addTo(pointer, v.bytes), addTo(pointer, v.bytes)]),
    ),
  ];
}

/** Address of gate 0 to 3 of a row of gates. */
const gateAt = (v: Readonly<Record<"bytes", number>>, pointer: number, gate: number): Code =>
  gate === 0 ? get(pointer) : i32.add(get(pointer), i32.mul(get(v.bytes), i32.const(gate)));

/** `lstmForward(gates, before, state, active, output, rows, units)` activates the gates and writes c, tanh(c) and h. */
const lstmForward = define(
  "lstmForward",
  ["gates", "before", "state", "active", "output", "rows", "units"],
  { bytes: "i32", left: "i32", i: "v128", f: "v128", g: "v128", o: "v128", c: "v128", ...activationLocals },
  (v) => [
    loadNumbers(v),
    forUnits(v, [v.before, v.state, v.active, v.output], [v.gates], ({ load, store }) => {
      const gates = [v.i, v.f, v.g, v.o];
      return [
        ...gates.flatMap((gate, index) => [
          ...set(gate, load(gateAt(v, v.gates, index))),
          ...(gate === v.g ? tanh(v, gate) : sigmoid(v, gate)),
          ...store(gateAt(v, v.gates, index), get(gate)),
        ]),
        ...set(v.c, f32x4.add(f32x4.mul(get(v.f), load(get(v.before))), f32x4.mul(get(v.i), get(v.g)))),
        ...store(get(v.state), get(v.c)),
        ...tanh(v, v.c),
        ...store(get(v.active), get(v.c)),
        ...store(get(v.output), f32x4.mul(get(v.o), get(v.c))),
      ];
    }),
  ],
);

/**
 * `lstmBackward(dGates, dOutput, dState, gates, before, active, rows, units)` replaces `dState` by that of the step
 * before.
 */
const lstmBackward = define(
  "lstmBackward",
  ["dGates", "dOutput", "dState", "gates", "before", "active", "rows", "units"],
  {
    bytes: "i32",
    left: "i32",
    i: "v128",
    f: "v128",
    g: "v128",
    o: "v128",
    t: "v128",
    dc: "v128",
    dh: "v128",
    one: "v128",
  },
  (v) => [
    set(v.one, f32x4.splat(f32.const(1))),
    forUnits(v, [v.dOutput, v.dState, v.before, v.active], [v.dGates, v.gates], ({ load, store }) => {
      const { mul, sub, add } = f32x4;
      const ofSigmoid = (y: number): Code => mul(get(y), sub(get(v.one), get(y)));
      const ofTanh = (y: number): Code => sub(get(v.one), mul(get(y), get(y)));
      const storeGate = (gate: number, value: Code): Code => store(gateAt(v, v.dGates, gate), value);
      return [
        ...[v.i, v.f, v.g, v.o].flatMap((gate, index) => set(gate, load(gateAt(v, v.gates, index)))),
        ...set(v.t, load(get(v.active))),
        ...set(v.dh, load(get(v.dOutput))),
        ...set(v.dc, add(mul(mul(get(v.dh), get(v.o)), ofTanh(v.t)), load(get(v.dState)))),
        ...storeGate(0, mul(mul(get(v.dc), get(v.g)), ofSigmoid(v.i))),
        ...storeGate(1, mul(mul(get(v.dc), load(get(v.before))), ofSigmoid(v.f))),
        ...storeGate(2, mul(mul(get(v.dc), get(v.i)), ofTanh(v.g))),
        ...storeGate(3, mul(mul(get(v.dh), get(v.t)), ofSigmoid(v.o))),
        ...store(get(v.dState), mul(get(v.dc), get(v.f))),
      ];
    }),
  ],
);

export const lstmKernels: readonly WasmFunction[] = [lstmForward, lstmBackward];
