/** The elementwise part of a step of an LSTM, forward and backward. Addresses are in bytes. */
import type { Code } from "../../wasm/encoding";
import { advance, f32, f32x4, i32, local, v128, whileLoop } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { activationLocals, loadNumbers, sigmoid, tanh } from "./activations";
import { addTo, countDown, define, times } from "./define";

const { get, set } = local;

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

/**
 * The function `lstmForward(gates, before, state, active, output, rows, units)`. It replaces the gates i, f, g, o by their
 * activations, and writes c = f·before + i·g, tanh(c), and h = o·tanh(c).
 */
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
 * The function `lstmBackward(dGates, dOutput, dState, gates, before, active, rows, units)`. It writes the gradients by the
 * gates before their activations, and replaces the gradient by c by that by c of the step before.
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
