import {
  classificationMetricNames,
  metricsOf,
  type Predictions,
  regressionMetricNames,
} from "../../../core/evaluation/metrics";
import { pairedMetric } from "../../../core/evaluation/paired-bootstrap";
import { drawsFor } from "../../../core/tuning/samplers/sampler";

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

  it.each([...classificationMetricNames])("has the models' own values of %s", (metric) => {
    const [candidate, champion] = [scored(2, 3, 400), scored(4, 4, 400)];
    const found = pairedMetric(metric, candidate, champion, 1)!;
    expect(found.candidateValue).toBeCloseTo(metricsOf(candidate)[metric]!, 10);
    expect(found.championValue).toBeCloseTo(metricsOf(champion)[metric]!, 10);
    expect(found.difference).toBe(found.candidateValue - found.championValue);
    expect(found.lower).toBeLessThanOrEqual(found.upper);
  });

  it.each([...regressionMetricNames])("has the models' own values of %s, for numbers", (metric) => {
    const labels = Float32Array.from({ length: 100 }, (_, row) => row);
    const off = (by: number): Predictions => ({
      classes: 0,
      labels,
      outputs: labels.map((label, row) => label + by * (row % 3)),
    });
    const found = pairedMetric(metric, off(1), off(2), 1)!;
    expect([found.candidateValue, found.championValue]).toEqual([
      expect.closeTo(metricsOf(off(1))[metric]!, 10),
      expect.closeTo(metricsOf(off(2))[metric]!, 10),
    ]);
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
