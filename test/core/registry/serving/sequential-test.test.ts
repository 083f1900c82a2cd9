import { mulberry32 } from "../../../../core/datasets/split";
import { confidenceHalfWidth, judgeCanary } from "../../../../core/registry/serving/sequential-test";
import type { SequentialPlan } from "../../../../core/registry/serving/shapes";
import { rounds } from "../../../support/rounds";

const plan: SequentialPlan = {
  ...{ metric: "conversion", kind: "binary", goal: "increase", margin: 0, alpha: 0.05, effect: 0.05 },
  ...{ minUnits: 100, act: "advise" },
};
const rates = (units: number, sum: number) => ({ units, sum, sumOfSquares: sum });

describe("the confidence sequence", () => {
  it("is what the formula gives", () => {
    // V = τ² = 0.01: √(2 · 0.01 · 0.02 / 0.01 · (ln 20 + ½ ln 2)) = √(0.04 · (2.995732 + 0.346574)).
    expect(confidenceHalfWidth(0.01, 0.1, 0.05)).toBeCloseTo(Math.sqrt(0.04 * 3.342306), 6);
  });

  it("ends where the likelihood ratio reaches 1/α", () => {
    const [variance, tau, alpha] = [0.0007, 0.03, 0.02];
    const width = confidenceHalfWidth(variance, tau, alpha);
    const mixture = variance + tau * tau;
    const ratio = Math.sqrt(variance / mixture) * Math.exp((tau * tau * width * width) / (2 * variance * mixture));
    expect(ratio).toBeCloseTo(1 / alpha, 9);
  });

  it("is wider than a single look's interval, and narrows with the variance", () => {
    expect(confidenceHalfWidth(0.0001, 0.05, 0.05)).toBeGreaterThan(1.96 * 0.01);
    expect(confidenceHalfWidth(0.00005, 0.05, 0.05)).toBeLessThan(confidenceHalfWidth(0.0001, 0.05, 0.05));
  });
});

describe("judgeCanary", () => {
  it.each([
    ["nobody has reported", rates(0, 0), rates(0, 0), {}, "keep-on"],
    ["too few units", rates(99, 90), rates(2_000, 100), {}, "keep-on"],
    ["too few of the rarer outcome", rates(200, 6), rates(20_000, 100), {}, "keep-on"],
    ["far better", rates(1_000, 300), rates(9_000, 900), {}, "promote"],
    ["far worse", rates(1_000, 20), rates(9_000, 900), {}, "roll-back"],
    ["far more of what is to be less", rates(1_000, 300), rates(9_000, 900), { goal: "decrease" }, "roll-back"],
    ["the same", rates(1_000, 100), rates(9_000, 900), {}, "keep-on"],
    ["the same; a little worse will do", rates(5_000, 500), rates(45_000, 4_500), { margin: 0.03 }, "promote"],
    ["the same, and its time is over", rates(1_000, 100), rates(9_000, 900), { maxUnits: 1_000 }, "roll-back"],
    ["no variance at all", rates(500, 500), rates(500, 500), {}, "keep-on"],
  ] as const)("%s", (_, canary, champion, more, decision) => {
    expect(judgeCanary({ ...plan, ...more }, canary, champion).decision).toBe(decision);
  });

  it("says what it saw", () => {
    const { gain, evidence, ...seen } = judgeCanary(plan, rates(1_000, 300), rates(9_000, 900));
    const units = { canary: 1_000, champion: 9_000 };
    expect(seen).toEqual({ decision: "promote", canary: 0.3, champion: 0.1, units });
    expect(gain?.estimate).toBeCloseTo(0.2, 12);
    expect(evidence).toMatch(
      /^gain in conversion 0\.2, 95 % confidence sequence \[0\.1\d+, 0\.2\d+\]: lower bound > 0$/,
    );
  });

  it("takes means of any numbers by their sample variance", () => {
    const arm = (mean: number) => ({ units: 400, sum: 400 * mean, sumOfSquares: 400 * mean * mean + 399 * 4 });
    const verdict = judgeCanary({ ...plan, kind: "mean", effect: 1 }, arm(11), arm(10));
    const width = confidenceHalfWidth(0.02, 1, 0.05);
    expect(verdict.gain?.lower).toBeCloseTo(1 - width, 9);
    expect(verdict.decision).toBe("promote");
  });

  /** Returns the decisions on canaries with these probabilities of success, looked at after each 20th of 3,000 units. */
  function decisions(canary: number, champion: number, trials: number): readonly string[] {
    const uniform = mulberry32(1);
    return Array.from({ length: trials }, () => {
      const arms = [rates(0, 0), rates(0, 0)] as const;
      let decision = "keep-on";
      for (let unit = 1; unit <= 3_000 && decision === "keep-on"; unit += 1) {
        const at = uniform() < 0.2 ? 0 : 1;
        const value = uniform() < (at === 0 ? canary : champion) ? 1 : 0;
        Object.assign(arms[at], rates(arms[at].units + 1, arms[at].sum + value));
        if (unit % 20 === 0) ({ decision } = judgeCanary(plan, ...arms));
      }
      return decision;
    });
  }

  it("is seldom wrong, however often it is looked at", () => {
    const count = rounds(60, 1_000);
    const most = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / count);
    const onEqual = decisions(0.2, 0.2, count).filter((decision) => decision !== "keep-on");
    expect(onEqual.length / count).toBeLessThan(most);
    const onWorse = decisions(0.1, 0.2, count / 2);
    expect(onWorse.filter((decision) => decision === "roll-back").length).toBeGreaterThan(0.45 * count);
    expect(onWorse).not.toContain("promote");
  });
});
