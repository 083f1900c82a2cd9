import { clipFactor, globalNorm } from "../../../trainer-container/optimizer/clip";
import { type LearningRateConfig, learningRateAt } from "../../../trainer-container/optimizer/learning-rate";
import { applyStatistics } from "../../../trainer-container/optimizer/updates";

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

  it("shows NaN and infinity", () => {
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
