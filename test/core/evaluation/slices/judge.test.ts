import { metricsOf, type Predictions, selectRows } from "../../../../core/evaluation/metrics";
import type { SliceEvidence } from "../../../../core/evaluation/shapes";
import {
  rateDifference,
  type SlicedPredictions,
  sliceGap,
  type Unjudged,
  worstSlice,
} from "../../../../core/evaluation/slices/judge";
import { metricStatistic } from "../../../../core/evaluation/slices/statistics";
import { seededRandom } from "../../../support/random";
import { rounds } from "../../../support/rounds";

type Row = readonly [slice: string, label: number, output: number];

/** Binary: the output is the probability of the second class. */
function binary(rows: readonly Row[], classes: readonly string[] = ["no", "yes"]): SlicedPredictions {
  const values = [...new Set(rows.map(([slice]) => slice))];
  return {
    predictions: {
      classes: 2,
      labels: Int32Array.from(rows, ([, label]) => label),
      outputs: Float32Array.from(rows, ([, , output]) => output),
    },
    classes,
    columns: [{ column: "group", values, codes: Int32Array.from(rows, ([slice]) => values.indexOf(slice)) }],
  };
}
const times = (count: number, row: Row): Row[] => Array.from({ length: count }, () => row);
const requested = { column: "group", minRows: 2, seed: 1 };
const found = (evidence: SliceEvidence | Unjudged): SliceEvidence => {
  if ("reason" in evidence) throw new Error(evidence.reason);
  return evidence;
};

/*
 * a: 10 positive (8 found, 2 missed), 10 negative (1 called positive)   selected 9/20, TPR 0.8, FPR 0.1, accuracy 17/20
 * b: 10 positive (5 found, 5 missed), 30 negative (6 called positive)   selected 11/40, TPR 0.5, FPR 0.2, accuracy 29/40
 */
const worked = binary([
  ...times(8, ["a", 1, 0.9]),
  ...times(2, ["a", 1, 0.1]),
  ...times(1, ["a", 0, 0.9]),
  ...times(9, ["a", 0, 0.1]),
  ...times(5, ["b", 1, 0.9]),
  ...times(5, ["b", 1, 0.1]),
  ...times(6, ["b", 0, 0.9]),
  ...times(24, ["b", 0, 0.1]),
]);

describe("gates on slices, by hand", () => {
  it("the worst slice, worst first", () => {
    const { estimate, slices, lower, upper } = found(worstSlice(worked, { ...requested, metric: "accuracy" }));
    expect(estimate).toBe(29 / 40);
    expect(slices.map(({ value, rows, estimate: each }) => [value, rows, each])).toEqual([
      ["b", 40, 29 / 40],
      ["a", 20, 17 / 20],
    ]);
    expect(lower).toBeLessThan(estimate);
    expect(upper).toBeGreaterThan(estimate);
    expect(found(worstSlice(worked, { ...requested, metric: "logLoss" })).slices[0]!.value).toBe("b");
  });

  it("the gap of a metric", () => {
    expect(found(sliceGap(worked, { ...requested, metric: "recall" })).estimate).toBeCloseTo(0.3, 12);
    expect(found(sliceGap(worked, { ...requested, metric: "accuracy" })).estimate).toBeCloseTo(17 / 20 - 29 / 40, 12);
  });

  it("demographic parity: the difference of the shares that are called positive", () => {
    const evidence = found(rateDifference(worked, { ...requested, kind: "demographic-parity" }));
    expect(evidence).toMatchObject({ positive: "yes", rate: "selection", judged: 2, leftOut: 0 });
    expect(evidence.estimate).toBeCloseTo(9 / 20 - 11 / 40, 12);
    expect(evidence.slices.map(({ value }) => value)).toEqual(["a", "b"]);
    // The result for the other class is the same; an unknown class is refused.
    const other = found(rateDifference(worked, { ...requested, kind: "demographic-parity", positive: "no" }));
    expect(other.estimate).toBeCloseTo(evidence.estimate, 12);
    expect(rateDifference(worked, { ...requested, kind: "demographic-parity", positive: "maybe" })).toEqual({
      reason: '"maybe" is not a class of the label; the classes are no, yes',
    });
  });

  it("equalised odds: the larger of the differences of true and of false positives", () => {
    const evidence = found(rateDifference(worked, { ...requested, kind: "equalized-odds" }));
    expect(evidence).toMatchObject({ rate: "true-positive", positive: "yes" });
    expect(evidence.estimate).toBeCloseTo(0.3, 12);
    expect(found(rateDifference(worked, { ...requested, kind: "equalized-odds", positive: "no" })).rate).toBe(
      "false-positive",
    );
  });

  it("of more classes each against the rest, and the largest", () => {
    // Selection rates by class, a: 2/4 1/4 1/4, b: 1/4 0 3/4.
    const labels = Int32Array.from([0, 0, 1, 2, 0, 1, 2, 2]);
    const predicted = [0, 0, 1, 2, 0, 2, 2, 2];
    const three: SlicedPredictions = {
      predictions: {
        classes: 3,
        labels,
        outputs: Float32Array.from(predicted.flatMap((each) => [0, 1, 2].map((index) => Number(index === each)))),
      },
      classes: ["x", "y", "z"],
      columns: [{ column: "group", values: ["a", "b"], codes: Int32Array.from([0, 0, 0, 0, 1, 1, 1, 1]) }],
    };
    expect(found(rateDifference(three, { ...requested, kind: "demographic-parity" }))).toMatchObject({
      estimate: 0.5,
      positive: "z",
    });
    // TPR of y: 1 and 0. FPR of z: 0 and 1/2.
    expect(found(rateDifference(three, { ...requested, kind: "equalized-odds" }))).toMatchObject({
      estimate: 1,
      positive: "y",
      rate: "true-positive",
    });
    expect(found(rateDifference(three, { ...requested, kind: "equalized-odds", positive: "z" }))).toMatchObject({
      estimate: 0.5,
      rate: "false-positive",
    });
  });

  it("leaves out small slices, and rates of no rows", () => {
    const rows: Row[] = [...times(30, ["a", 1, 0.9]), ...times(30, ["b", 1, 0.1]), ...times(3, ["tiny", 1, 0.1])];
    const small = { ...requested, minRows: 10 };
    expect(found(worstSlice(binary(rows), { ...small, metric: "accuracy" }))).toMatchObject({ judged: 2, leftOut: 1 });
    // There are no negatives: no false positives to compare, and true positives are.
    expect(found(rateDifference(binary(rows), { ...small, kind: "equalized-odds" }))).toMatchObject({
      estimate: 1,
      rate: "true-positive",
    });
  });

  const f1 = { ...requested, metric: "f1" };
  const onePositive = binary([...times(9, ["a", 1, 0.3]), ...times(9, ["b", 0, 0.2]), ["b", 1, 0.3]]);
  it.each<[string, SliceEvidence | Unjudged, RegExp]>([
    ["a column that was not requested", sliceGap(worked, { ...f1, column: "age" }), /no slices by age/],
    ["a metric of other tasks", worstSlice(worked, { ...f1, metric: "rmse" }), /no metric of that name/],
    ["one slice", sliceGap(worked, { ...f1, minRows: 30 }), /only one slice by group has at least 30 rows/],
    ["none", worstSlice(worked, { ...f1, minRows: 99 }), /no slice by group has at least 99 rows/],
    ["one slice with an area", sliceGap(onePositive, { ...f1, metric: "auc" }), /defined for only one slice/],
  ])("says why there is no evidence: %s", (_name, evidence, reason) => {
    expect(evidence).toEqual({ reason: expect.stringMatching(reason) });
  });
});

function drawn(classes: number, rows: number, random: () => number): Predictions {
  const width = classes > 2 ? classes : 1;
  const outputs = Float32Array.from({ length: rows * width }, () => Math.round(random() * 20) / 20);
  const labels =
    classes === 0
      ? Float32Array.from({ length: rows }, () => random())
      : Int32Array.from({ length: rows }, () => Math.floor(random() * classes));
  return { classes, labels, outputs };
}

describe("a metric under weights", () => {
  it.each([0, 2, 3, 7])("is metricsOf of the rows, each as often as its weight (%i classes)", (classes) => {
    const random = seededRandom(5 + classes);
    for (let round = 0; round < 30; round += 1) {
      const predictions = drawn(classes, 60, random);
      const rows = Uint32Array.from({ length: 25 }, (_, at) => at * 2);
      const weights = Uint32Array.from(rows, () => Math.floor(random() * 4));
      const repeated = Uint32Array.from(
        [...rows].flatMap((row, at) => Array.from({ length: weights[at]! }, () => row)),
      );
      for (const [metric, value] of Object.entries(metricsOf(selectRows(predictions, repeated)))) {
        const components = new Float64Array(1);
        metricStatistic(metric, predictions)!.of(rows)(weights, components);
        expect([metric, components[0]]).toEqual([metric, expect.closeTo(value, 10)]);
      }
    }
  });
});

describe("simultaneous intervals", () => {
  /** Slices of the same true accuracy 0.8: how often does the interval of the gap leave 0 out, that of the worst leave 0.8 out? */
  it.each([
    [2, 60],
    [12, 40],
  ])("finds at most about one in twenty of %i equal slices of %i rows worse", (slices, rows) => {
    const random = seededRandom(9);
    const judged = rounds(20);
    let gaps = 0;
    let worsts = 0;
    for (let round = 0; round < judged; round += 1) {
      const sliced = binary(
        Array.from({ length: slices * rows }, (_, at): Row => [`s${at % slices}`, 1, random() < 0.8 ? 0.9 : 0.1]),
      );
      const of = { ...requested, seed: round, metric: "accuracy" };
      if (found(sliceGap(sliced, of)).lower > 0) gaps += 1;
      const { upper } = found(worstSlice(sliced, of));
      if (upper < 0.8) worsts += 1;
    }
    // 5 %, and two and a half standard deviations.
    const most = 0.05 * judged + 2.5 * Math.sqrt(0.05 * 0.95 * judged);
    expect(gaps).toBeLessThanOrEqual(most);
    expect(worsts).toBeLessThanOrEqual(most);
  });

  it("find a slice that is worse, among many", () => {
    const random = seededRandom(4);
    const sliced = binary(
      Array.from({ length: 3_000 }, (_, at): Row => {
        const slice = at % 12;
        return [`s${slice}`, 1, random() < (slice === 7 ? 0.6 : 0.9) ? 0.9 : 0.1];
      }),
    );
    const gap = found(sliceGap(sliced, { ...requested, metric: "accuracy" }));
    expect(gap.lower).toBeGreaterThan(0.1);
    expect(gap.slices[1]!.value).toBe("s7");
    expect(found(worstSlice(sliced, { ...requested, metric: "accuracy" })).upper).toBeLessThan(0.8);
  });

  it("do not take twenty right answers of twenty for certainty", () => {
    const sliced = binary([...times(20, ["a", 1, 0.9]), ...times(500, ["b", 1, 0.9])]);
    const { lower, slices } = found(worstSlice(sliced, { ...requested, metric: "accuracy" }));
    // The rule of three says 1 - 3 / 20.
    expect(lower).toBeGreaterThan(0.8);
    expect(lower).toBeLessThan(0.9);
    expect(slices.find(({ value }) => value === "b")!.lower).toBeGreaterThan(0.99);
  });
});
