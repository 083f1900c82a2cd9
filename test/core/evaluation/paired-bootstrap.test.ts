import {
  classificationMetricNames,
  metricsOf,
  type Predictions,
  regressionMetricNames,
} from "../../../core/evaluation/metrics";
import { pairedBootstrap, pairedMetric, resamplesOf } from "../../../core/evaluation/paired-bootstrap";
import { meanStatistic } from "../../../core/evaluation/slices/statistics";
import { drawsFor } from "../../../core/tuning/samplers/sampler";
import { rounds } from "../../support/rounds";

/** Predictions of a binary model: 5 % of the rows are positive, and their scores are `shift` higher on average. */
function scored(shift: number, seed: number, rows = 2_000): Predictions {
  const draws = drawsFor(seed);
  const labels = Int32Array.from({ length: rows }, (_, row) => Number(row % 20 === 0));
  const outputs = Float32Array.from(labels, (label) => 1 / (1 + Math.exp(-(draws.normal() - 3 + shift * label))));
  return { classes: 2, labels, outputs };
}

describe("the paired comparison by any metric", () => {
  it("shows a regression of AUC at 5 % positives, where accuracy shows none", () => {
    const [candidate, champion] = [scored(1, 1), scored(2.5, 2)];
    const auc = pairedMetric("auc", candidate, champion, 7)!;
    expect(auc.candidateValue).toBeCloseTo(metricsOf(candidate)["auc"]!, 12);
    expect(auc.championValue).toBeCloseTo(metricsOf(champion)["auc"]!, 12);
    expect(auc).toMatchObject({ confidence: 0.95, rows: 2_000, resamples: 2_000, seed: 7 });
    expect([auc.lower < auc.difference, auc.difference < auc.upper, auc.upper < 0]).toEqual([true, true, true]);
    const accuracy = pairedMetric("accuracy", candidate, champion, 7)!;
    expect(accuracy.upper).toBeGreaterThan(-0.01);
  });

  const labels = Float32Array.from({ length: 100 }, (_, row) => row);
  const off = (by: number): Predictions => ({
    ...{ classes: 0, labels },
    outputs: labels.map((label, row) => label + by * (row % 3)),
  });
  it.each([
    ...classificationMetricNames.map((metric) => [metric, scored(2, 3, 400), scored(4, 4, 400)] as const),
    ...regressionMetricNames.map((metric) => [metric, off(1), off(2)] as const),
  ])("has the models' own values of %s", (metric, candidate, champion) => {
    const found = pairedMetric(metric, candidate, champion, 1)!;
    expect(found.candidateValue).toBeCloseTo(metricsOf(candidate)[metric]!, 10);
    expect(found.championValue).toBeCloseTo(metricsOf(champion)[metric]!, 10);
    expect(found.difference).toBe(found.candidateValue - found.championValue);
    expect(found.lower).toBeLessThanOrEqual(found.upper);
  });

  it("is zero for equal models, and the same for the same seed", () => {
    const model = scored(2, 5, 300);
    expect(pairedMetric("prAuc", model, model, 3)).toMatchObject({ difference: 0, lower: 0, upper: 0 });
    const other = scored(2, 6, 300);
    expect(pairedMetric("f1", model, other, 3)).toEqual(pairedMetric("f1", model, other, 3));
    expect(pairedMetric("f1", model, other, 3)).not.toEqual(pairedMetric("f1", model, other, 4));
  });

  it("leaves out resamples without a row of a class, and is undefined without one at all", () => {
    const few: Predictions = {
      classes: 2,
      labels: Int32Array.of(1, 0, 0, 0),
      outputs: Float32Array.of(0.9, 0.1, 0.2, 0.3),
    };
    expect(pairedMetric("auc", few, few, 1)!.resamples).toBeLessThan(2_000);
    const none = { ...few, labels: Int32Array.of(0, 0, 0, 0) };
    expect(pairedMetric("auc", none, none, 1)).toBeUndefined();
    expect(pairedMetric("rmse", few, few, 1)).toBeUndefined();
  });

  it("compares a champion that does not know a class only by accuracy", () => {
    const candidate = scored(2, 8, 100);
    const champion = { ...scored(2, 9, 100), labels: candidate.labels.map((label, row) => (row === 0 ? -1 : label)) };
    expect(pairedMetric("logLoss", candidate, champion, 1)).toBeUndefined();
    expect(pairedMetric("accuracy", candidate, champion, 1)).toBeDefined();
  });
});

/** `right` rows of 1 and the rest of 0, in an order that repeats. */
const outcomes = (pattern: readonly number[], rows: number) =>
  Float64Array.from({ length: rows }, (_, i) => pattern[i % pattern.length]!);

const paired = (a: Float64Array, b: Float64Array, seed: number, finish?: (mean: number) => number) =>
  pairedBootstrap(meanStatistic(true, a, finish), meanStatistic(true, b, finish), a.length, seed)!;

describe("the paired bootstrap", () => {
  it("of one row has no width", () => {
    expect(paired(outcomes([1], 1), outcomes([0], 1), 3)).toEqual({
      ...{ candidateValue: 1, championValue: 0, difference: 1, lower: 1, upper: 1 },
      ...{ confidence: 0.95, rows: 1, resamples: 2_000, seed: 3 },
    });
  });

  it("has the width that the paired differences have", () => {
    // In 10 rows only the candidate is correct on 2, only the champion on 1: the mean difference is 0.1, its variance
    // 0.3 - 0.01 = 0.29.
    const candidate = outcomes([1, 1, 0, 1, 1, 1, 1, 0, 0, 0], 2_000);
    const champion = outcomes([0, 0, 1, 1, 1, 1, 1, 0, 0, 0], 2_000);
    const { difference, lower, upper } = paired(candidate, champion, 11);
    const halfWidth = 1.96 * Math.sqrt(0.29 / 2_000); // 0.0236
    expect(difference).toBeCloseTo(0.1, 12);
    expect(lower).toBeCloseTo(0.1 - halfWidth, 2);
    expect(upper).toBeCloseTo(0.1 + halfWidth, 2);
    expect(Math.abs((upper - lower) / 2 - halfWidth)).toBeLessThan(0.1 * halfWidth);
    // Side by side, unpaired, each would vary by 0.6 * 0.4: the interval would be more than half as wide again.
    expect(halfWidth).toBeLessThan((1.96 * Math.sqrt((0.24 + 0.25) / 2_000)) / 1.2);
  });

  it("of squared errors is that of the roots of their means", () => {
    const { difference, lower, upper } = paired(outcomes([4], 50), outcomes([9], 50), 1, Math.sqrt);
    expect([difference, lower, upper]).toEqual([-1, -1, -1]);
  });

  it("covers the truth as often as it says", () => {
    // The candidate is right with probability 0.8, the champion with 0.7, each row by itself.
    const { uniform } = drawsFor(1);
    const trials = rounds(60, 200);
    let covered = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const draw = (probability: number) => Float64Array.from({ length: 200 }, () => Number(uniform() < probability));
      const { lower, upper } = paired(draw(0.8), draw(0.7), trial);
      if (lower <= 0.1 && 0.1 <= upper) covered += 1;
    }
    // 95 %, less three standard deviations.
    expect(covered).toBeGreaterThanOrEqual(0.95 * trials - 3 * Math.sqrt(0.05 * 0.95 * trials));
    expect(covered).toBeLessThan(trials);
  });

  it("draws less often from many rows", () => {
    expect([1, 1_000, 100_000, 200_000, 10_000_000].map(resamplesOf)).toEqual([2_000, 2_000, 2_000, 1_000, 400]);
  });

  it("refuses rows that are not the same", () => {
    const of = (rows: number) => ({ classes: 0, labels: new Float32Array(rows), outputs: new Float32Array(rows) });
    expect(() => pairedMetric("rmse", of(1), of(2), 0)).toThrow(/needs the same rows/);
    expect(pairedMetric("rmse", of(0), of(0), 0)).toBeUndefined();
  });
});
