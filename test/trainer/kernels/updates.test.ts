import { simdBlockSquare } from "../../../trainer-container/kernels/norm";
import { allocateSum, inSumMemory } from "../../../trainer-container/kernels/sum-memory";
import { simdGround } from "../../../trainer-container/kernels/updates";
import { globalNorm } from "../../../trainer-container/optimizer/clip";
import { createOptimizer } from "../../../trainer-container/optimizer/create-optimizer";
import { javascriptGround, type OptimizerConfig } from "../../../trainer-container/optimizer/optimizer";

/** Park and Miller's generator: numbers in [0, 1). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

type Values = (length: number, seed: number) => Float32Array;
const inputs: Readonly<Record<string, Values>> = {
  ordinary: (length, seed) => {
    const next = random(seed);
    return Float32Array.from({ length }, () => next() - 0.5);
  },
  "of all magnitudes": (length, seed) => {
    const next = random(seed);
    return Float32Array.from({ length }, () => (next() - 0.5) * 2 ** Math.floor(next() * 250 - 125));
  },
  subnormal: (length, seed) => {
    const next = random(seed);
    return Float32Array.from({ length }, () => (next() - 0.5) * 2 ** -126);
  },
  "huge, infinite, NaN and zero": (length, seed) => {
    const next = random(seed);
    const values = [3e38, -3e38, 1e30, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 0, -0, 1];
    return Float32Array.from({ length }, () => values[Math.floor(next() * values.length)]!);
  },
};

/** Bits, every NaN alike: which one of them an operation gives is left open. */
function bits(values: Float32Array): number[] {
  const words = new Int32Array(values.slice().buffer);
  return [...words].map((word, i) => (Number.isNaN(values[i]!) ? 0x7fc0_0000 : word));
}

function inKernelMemory(values: Float32Array, offset: number): Float32Array {
  const copy = allocateSum(values.length + offset).subarray(offset);
  copy.set(values);
  return copy;
}

const configs: readonly OptimizerConfig[] = [
  { type: "sgd" },
  { type: "sgd", weightDecay: 0.3 },
  { type: "momentum" },
  { type: "momentum", weightDecay: 0.01, momentum: 0.7 },
  { type: "momentum", nesterov: true },
  { type: "adam" },
  { type: "adam", beta1: 0.5, beta2: 0, epsilon: 1e-3 },
  { type: "adam", weightDecay: 0.3 },
  { type: "adam", weightDecay: 1e-60 },
  { type: "adamw", weightDecay: 0.1 },
];

describe.each(configs)("the kernel of %o", (config) => {
  it.each(Object.entries(inputs))("gives JavaScript's bits where values are %s", (_, values) => {
    for (const [length, offset] of [0, 1, 2, 3, 4, 5, 7, 8, 37, 1_001].map((n, i) => [n, i % 4] as const)) {
      const start = values(length, 7 + length);
      const weights = inKernelMemory(start, offset);
      const plain = start.slice();
      const fast = createOptimizer(config, length, simdGround);
      const slow = createOptimizer(config, length, javascriptGround);
      for (let step = 1; step <= 4; step++) {
        const gradient = values(length + 3, step * 31 + length);
        const options = { step, learningRate: 0.01, scale: 1 / 3 };
        const placed = inKernelMemory(gradient, (offset + step) % 4);
        expect(inSumMemory(weights, placed, ...Object.values(fast.state))).toBe(true);
        fast.step(weights, placed, options);
        slow.step(plain, gradient, options);
        expect(bits(placed)).toEqual(bits(gradient));
      }
      expect(bits(weights)).toEqual(bits(plain));
      for (const [name, slot] of Object.entries(fast.state)) expect(bits(slot)).toEqual(bits(slow.state[name]!));
    }
  });
});

describe("the kernels' memory", () => {
  it.each([9, 8_192, 20_001])("is not needed: %i weights that lie elsewhere are stepped to the same bits", (length) => {
    const gradient = inputs["ordinary"]!(length, 1);
    const [elsewhere, plain] = [gradient.slice(), gradient.slice()];
    const mixed = createOptimizer({ type: "adam" }, length, simdGround);
    const slow = createOptimizer({ type: "adam" }, length, javascriptGround);
    for (let step = 1; step <= 2; step++) {
      mixed.step(elsewhere, gradient, { step, learningRate: 0.1 });
      slow.step(plain, gradient, { step, learningRate: 0.1 });
    }
    expect(bits(elsewhere)).toEqual(bits(plain));
    expect(bits(mixed.state["v"]!)).toEqual(bits(slow.state["v"]!));
    expect(gradient).toEqual(inputs["ordinary"]!(length, 1));
  });

  it("keeps the memory next to the weights, and refuses arrays that are too short", () => {
    const around = allocateSum(12).fill(5);
    const optimizer = createOptimizer({ type: "sgd" }, 5, simdGround);
    optimizer.step(around.subarray(3, 8), allocateSum(5).fill(1), { step: 1, learningRate: 1 });
    expect([...around]).toEqual([5, 5, 5, 4, 4, 4, 4, 4, 5, 5, 5, 5]);
    expect(() => optimizer.step(around, allocateSum(5), { step: 1, learningRate: 1 })).toThrow(
      "an array has 5 elements, but there are 12 weights",
    );
  });
});

describe("the norm's kernel", () => {
  it.each(Object.entries(inputs))("gives JavaScript's bits where values are %s", (_, values) => {
    for (const length of [0, 1, 2, 3, 4, 5, 6, 7, 8, 1_023, 1_024, 1_025, 5_001]) {
      const plain = values(length, 3 + length);
      expect(globalNorm(inKernelMemory(plain, length % 4), length, simdBlockSquare)).toBe(globalNorm(plain, length));
    }
  });

  it("counts no element behind the length", () => {
    const values = inKernelMemory(Float32Array.of(3, 4, 100, 100), 1);
    expect(globalNorm(values, 2, simdBlockSquare)).toBe(5);
  });

  it("refuses a range outside the array", () => {
    expect(() => simdBlockSquare(allocateSum(4), 0, 5)).toThrow("[0, 5) was requested, but the array has 4 elements");
  });
});
