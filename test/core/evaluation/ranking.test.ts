import * as fc from "fast-check";
import { rank, rankingCurves } from "../../../core/evaluation/ranking";

const ranked = (labels: readonly number[], scores: readonly number[]) =>
  rank(
    labels.length,
    (row) => scores[row]!,
    (row) => labels[row] === 1,
  );

describe("rank", () => {
  it.each([
    // The example of scikit-learn's documentation: 3 of the 4 pairs are in order; precision 1 at recall 1/2, then 2/3 at recall 1.
    ["scikit-learn's example", [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.75, 1 / 2 + (1 / 2) * (2 / 3)],
    ["one score for all", [0, 1, 1, 0, 0], [7, 7, 7, 7, 7], 0.5, 2 / 5],
    ["scores below zero", [1, 0], [-1, -2], 1, 1],
  ])("judges %s", (_case, labels, scores, rocAuc, averagePrecision) => {
    const found = ranked(labels, scores)!;
    expect(found.rocAuc).toBeCloseTo(rocAuc, 14);
    expect(found.averagePrecision).toBeCloseTo(averagePrecision, 14);
  });

  it.each([
    ["positives", [1, 1]],
    ["negatives", [0, 0]],
    ["no rows", []],
  ])("is undefined for %s alone", (_case, labels) => {
    expect(ranked(labels, labels)).toBeUndefined();
  });

  it("equals the definitions, pair by pair and threshold by threshold", () => {
    const row = fc.tuple(fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 6 }));
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 40 }), (rows) => {
        const labels = rows.map(([label]) => label);
        const scores = rows.map(([, score]) => score);
        const positives = scores.filter((_, i) => labels[i] === 1);
        const negatives = scores.filter((_, i) => labels[i] === 0);
        fc.pre(positives.length > 0 && negatives.length > 0);
        const won = positives.flatMap((p) => negatives.map((n): number => (p > n ? 1 : p === n ? 0.5 : 0)));
        const rocAuc = won.reduce((sum, each) => sum + each, 0) / won.length;
        let averagePrecision = 0;
        let recallBefore = 0;
        for (const threshold of [...new Set(scores)].sort((a, b) => b - a)) {
          const hits = positives.filter((score) => score >= threshold).length;
          const recall = hits / positives.length;
          averagePrecision += (recall - recallBefore) * (hits / scores.filter((score) => score >= threshold).length);
          recallBefore = recall;
        }
        const found = ranked(labels, scores)!;
        expect(found.rocAuc).toBeCloseTo(rocAuc, 12);
        expect(found.averagePrecision).toBeCloseTo(averagePrecision, 12);
      }),
    );
  });
});

describe("rankingCurves", () => {
  const curves = (labels: readonly number[], scores: readonly number[]) =>
    rankingCurves(
      labels.length,
      (row) => scores[row]!,
      (row) => labels[row] === 1,
    );

  it("has a point for each distinct score", () => {
    // Descending: 0.9 (1), 0.5 (1, 0 tied), 0.4 (0), 0.3 (1).
    expect(curves([1, 1, 0, 0, 1], [0.9, 0.5, 0.5, 0.4, 0.3])).toEqual({
      roc: [
        [0, 0],
        [0, 1 / 3],
        [0.5, 2 / 3],
        [1, 2 / 3],
        [1, 1],
      ],
      precisionRecall: [
        [1 / 3, 1],
        [2 / 3, 2 / 3],
        [1, 3 / 5],
      ],
      prevalence: 3 / 5,
      averagePrecision: expect.closeTo((1 + 2 / 3 + 3 / 5) / 3, 14),
    });
  });

  it("is undefined for one kind alone", () => {
    expect(curves([1, 1], [1, 2])).toBeUndefined();
  });

  it("of many rows keeps the ends, and at most as many points as a plot shows", () => {
    const rows = 100_000;
    const found = rankingCurves(
      rows,
      (row) => Math.sin(row),
      (row) => row % 3 === 0,
    )!;
    expect(found.roc.length).toBeLessThan(1_000);
    expect([found.roc[0], found.roc.at(-1), found.precisionRecall.at(-1)?.[0]]).toEqual([[0, 0], [1, 1], 1]);
  });
});
