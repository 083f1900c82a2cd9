import {
  blockSquares,
  clipFactor,
  globalNorm,
  normBlockCount,
  normBlockElements,
  normOfBlocks,
} from "../../../trainer-container/optimizer/clip";
import { createOptimizer } from "../../../trainer-container/optimizer/create-optimizer";
import { type LearningRateConfig, learningRateAt } from "../../../trainer-container/optimizer/learning-rate";
import type { Optimizer, OptimizerConfig } from "../../../trainer-container/optimizer/optimizer";
import { applyStatistics } from "../../../trainer-container/optimizer/updates";

const f = Math.fround;

/** Weights after each of the gradients, one scalar weight starting at 1, learning rate 0.1. */
function run(config: OptimizerConfig, gradients: readonly number[], scale?: number): number[] {
  const optimizer = createOptimizer(config, 1);
  const weights = new Float32Array([1]);
  return gradients.map((gradient, index) => {
    const options = { step: index + 1, learningRate: 0.1, ...(scale === undefined ? {} : { scale }) };
    optimizer.step(weights, new Float32Array([gradient]), options);
    return weights[0] as number;
  });
}

const bits = (values: Float32Array): string => Buffer.from(values.buffer).toString("hex");

describe("optimizers (by hand)", () => {
  it.each<[string, OptimizerConfig, number[], number[]]>([
    // 1 − 0.1·2 = 0.8; 0.8 − 0.1·(−1) = 0.9
    ["sgd", { type: "sgd" }, [2, -1], [0.8, 0.9]],
    // 1 − 0.1·(2 + 0.5·1) = 0.75; 0.75 − 0.1·(−1 + 0.375) = 0.8125
    ["sgd with decay", { type: "sgd", weightDecay: 0.5 }, [2, -1], [0.75, 0.8125]],
    // v = 2, w = 0.8; v = 0.5·2 − 1 = 0, w = 0.8; v = 0 + 4 = 4, w = 0.4
    ["momentum", { type: "momentum", momentum: 0.5 }, [2, -1, 4], [0.8, 0.8, 0.4]],
    // v = 2, g + 0.5·2 = 3, w = 0.7; v = 0, −1 + 0 = −1, w = 0.8
    ["nesterov", { type: "momentum", momentum: 0.5, nesterov: true }, [2, -1], [0.7, 0.8]],
    // g = 2 + 0.5·1 = 2.5, w = 0.75
    ["momentum with decay", { type: "momentum", weightDecay: 0.5 }, [2], [0.75]],
    // Step 1: m̂ = 2, √v̂ = 2, w = 1 − 0.1. Step 2 (β₁ = ½, β₂ = ¾): m = ½·1 + ½·(−1) = 0, w stays.
    // Step 3: m = ½·4 = 2, m̂ = 2/(1 − ⅛) = 16/7; v = ¾·(¾·1 + ¼) + ¼·16 = 4.75, v̂ = 4.75·64/37; w −= 0.1·m̂/√v̂
    [
      "adam",
      { type: "adam", beta1: 0.5, beta2: 0.75, epsilon: 0 },
      [2, -1, 4],
      [0.9, 0.9, 0.9 - (0.1 * (16 / 7)) / Math.sqrt((4.75 * 64) / 37)],
    ],
    // ε is added to the root: 0.1·2/(2 + 2) = 0.05
    ["adam's epsilon", { type: "adam", epsilon: 2 }, [2], [0.95]],
    // L2 is part of the gradient, so Adam normalises it: g = 2 + 0.5·1 = 2.5, m̂ = 2.5, √v̂ = 2.5, w = 1 − 0.1 = 0.9.
    // Step 2: g = −1.45 + 0.5·0.9 = −1; m = ½·1.25 − ½ = 0.125, m̂ = 0.125/¾ = 1/6;
    // v = ¾·(¼·6.25) + ¼ = 1.421875, v̂ = 1.421875/(7/16) = 3.25; w = 0.9 − 0.1·(1/6)/√3.25
    [
      "adam with an L2 penalty",
      { type: "adam", beta1: 0.5, beta2: 0.75, epsilon: 0, weightDecay: 0.5 },
      [2, -1.45],
      [0.9, 0.9 - (0.1 * (1 / 6)) / Math.sqrt(3.25)],
    ],
    // With ε as large as the gradient the penalty shows in one step: g = 2 + 0.5·1 = 2.5, w = 1 − 0.1·2.5/(2.5 + 2.5)
    ["adam's penalty with epsilon", { type: "adam", epsilon: 2.5, weightDecay: 0.5 }, [2], [0.95]],
    // w·(1 − 0.1·0.5) − 0.1 = 0.85; 0.85·0.95 (m = 0) = 0.8075
    ["adamw", { type: "adamw", beta1: 0.5, beta2: 0.75, epsilon: 0, weightDecay: 0.5 }, [2, -1], [0.85, 0.8075]],
  ])("%s", (_, config, gradients, expected) => {
    run(config, gradients).forEach((weight, i) => {
      expect(weight).toBeCloseTo(expected[i] as number, 6);
    });
  });

  it("reads gradients scaled, and leaves them as they are", () => {
    expect(run({ type: "sgd" }, [8], 0.25)).toEqual([f(0.8)]);
    const gradients = new Float32Array([8]);
    createOptimizer({ type: "adam" }, 1).step(new Float32Array([1]), gradients, {
      step: 1,
      learningRate: 1,
      scale: 0.5,
    });
    expect(gradients[0]).toBe(8);
  });

  it("stops at the weights' end when statistics follow in the gradient", () => {
    const weights = new Float32Array([1, 1]);
    createOptimizer({ type: "sgd" }, 2).step(weights, new Float32Array([1, 1, 9]), { step: 1, learningRate: 1 });
    expect([...weights]).toEqual([0, 0]);
  });
});

describe.each<OptimizerConfig>([
  { type: "sgd", weightDecay: 0.01 },
  { type: "momentum", nesterov: true },
  { type: "adam" },
  { type: "adam", weightDecay: 0.01 },
  { type: "adamw" },
])("%o", (config) => {
  const size = 37;
  const gradient = (step: number): Float32Array =>
    Float32Array.from({ length: size }, (_, i) => Math.sin(i * 7 + step));
  const advance = (optimizer: Optimizer, weights: Float32Array, from: number, to: number): void => {
    for (let step = from; step <= to; step++) optimizer.step(weights, gradient(step), { step, learningRate: 0.01 });
  };

  it("resumes from copied state to the same bits", () => {
    const whole = new Float32Array(size).fill(1);
    advance(createOptimizer(config, size), whole, 1, 9);

    const first = createOptimizer(config, size);
    const weights = new Float32Array(size).fill(1);
    advance(first, weights, 1, 4);
    const second = createOptimizer(config, size);
    for (const [name, values] of Object.entries(first.state)) second.state[name]?.set(values);
    advance(second, weights, 5, 9);
    expect(bits(weights)).toBe(bits(whole));
  });

  it("gives the same bits when parts are stepped on their own", () => {
    const whole = new Float32Array(size).fill(1);
    const one = createOptimizer(config, size);
    one.step(whole, gradient(1), { step: 1, learningRate: 0.01 });

    const parts = new Float32Array(size).fill(1);
    for (const [begin, end] of [
      [0, 20],
      [20, size],
    ] as const) {
      const optimizer = createOptimizer(config, end - begin);
      optimizer.step(parts.subarray(begin, end), gradient(1).subarray(begin, end), { step: 1, learningRate: 0.01 });
    }
    expect(bits(parts)).toBe(bits(whole));
  });
});

const wild = (length: number) => Float32Array.from({ length }, (_, i) => Math.sin(i * 12.9898) * 2 ** (i % 40));

describe("the norm's blocks", () => {
  it("sum every fourth element apart and add them as (0 + 2) + (1 + 3)", () => {
    const sums = new Float64Array(1);
    blockSquares(Float32Array.from([1, 2, 3, 4, 5, 6, 7]), 7, sums);
    expect(sums[0]).toBe(1 + 25 + (9 + 49) + (4 + 36 + 16)); // 140
    const big = 2 ** 30;
    blockSquares(Float32Array.from([big, 1, -big, 1, 0, 1]), 6, sums);
    expect(sums[0]).toBe(2 ** 60 + 2 ** 60 + 3);
  });

  it.each([0, 1, 3, 1023, 1024, 1025, 4096, 5000])(
    "of %i elements are the same wherever the vector is cut",
    (length) => {
      const gradients = wild(length + 10);
      const blocks = normBlockCount(length);
      const whole = new Float64Array(blocks);
      blockSquares(gradients, length, whole);
      for (let cut = 0; cut <= blocks; cut += 1) {
        const parts = new Float64Array(blocks);
        blockSquares(gradients.subarray(0, cut * normBlockElements), length, parts, 0, cut);
        blockSquares(gradients.slice(cut * normBlockElements), length, parts, cut, blocks);
        expect(parts).toEqual(whole);
      }
      expect(globalNorm(gradients, length)).toBe(normOfBlocks(whole));
    },
  );
});

describe("learningRateAt", () => {
  const at = (config: Omit<LearningRateConfig, "learningRate">, total: number): number[] =>
    Array.from({ length: total }, (_, i) => learningRateAt({ learningRate: 8, ...config }, i + 1, total));

  it.each<[string, Omit<LearningRateConfig, "learningRate">, number[]]>([
    ["constant", {}, [8, 8, 8]],
    ["warm-up", { warmupSteps: 4 }, [2, 4, 6, 8, 8]],
    ["cosine", { decay: { type: "cosine" } }, [8, 4 + 2 * Math.SQRT2, 4, 4 - 2 * Math.SQRT2, 0]],
    ["cosine to a minimum", { decay: { type: "cosine", minimum: 2 } }, [8, 5, 2]],
    ["warm-up, then cosine", { warmupSteps: 2, decay: { type: "cosine" } }, [4, 8, 8, 4, 0]],
    ["steps", { decay: { type: "step", every: 2, factor: 0.5 } }, [8, 8, 4, 4, 2]],
    ["cosine of one step", { decay: { type: "cosine" } }, [8]],
  ])("%s", (_, config, expected) => {
    at(config, expected.length).forEach((rate, i) => {
      expect(rate).toBeCloseTo(expected[i] as number, 12);
    });
  });

  it("stays at the minimum past the end", () => {
    expect(learningRateAt({ learningRate: 1, decay: { type: "cosine", minimum: 0.1 } }, 50, 10)).toBeCloseTo(0.1, 12);
  });
});

describe("clipping", () => {
  it("takes the Euclidean norm of the elements that count", () => {
    expect(globalNorm(new Float32Array([3, -4, 100]), 2)).toBe(5);
    expect(globalNorm(new Float32Array([]))).toBe(0);
  });

  it("does not overflow float32 on the way", () => {
    expect(globalNorm(new Float32Array([1e30, 1e30]))).toBeCloseTo(Math.SQRT2 * Math.fround(1e30), -20);
  });

  it.each([
    [5, 10, 1],
    [10, 10, 1],
    [20, 10, 0.5],
    [20, undefined, 1],
  ])("norm %d, maximum %p: factor %d", (norm, maximum, factor) => {
    expect(clipFactor(norm, maximum)).toBe(factor);
  });

  it("shows NaN and infinity of a gradient", () => {
    expect(globalNorm(new Float32Array([1, Number.NaN]))).toBeNaN();
    expect(globalNorm(new Float32Array([1, -Infinity]))).toBe(Infinity);
  });
});

describe("applyStatistics", () => {
  it("takes the mean of the micro-batches' updates", () => {
    // Before 1; shards of 2 and 2 rows saw 2 and 4: Σ weight·(before − after) = 2·(−1) + 2·(−3) = −8; /4 rows → 1 + 2 = 3.
    const weights = new Float32Array([5, 1]);
    applyStatistics(weights, new Float32Array([100, -8]), 1, 1 / 4);
    expect([...weights]).toEqual([5, 3]);
  });
});
