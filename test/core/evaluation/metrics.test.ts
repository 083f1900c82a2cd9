import { metricsOf, predictedClasses, selectRows } from "../../../core/evaluation/metrics";

describe("predictedClasses", () => {
  it("takes the likeliest class, the first of equals", () => {
    const outputs = Float32Array.from([0.2, 0.5, 0.3, 0.4, 0.2, 0.4]);
    expect([...predictedClasses({ classes: 3, labels: new Int32Array(2), outputs })]).toEqual([1, 0]);
  });

  it("takes the second of two above a half", () => {
    const outputs = Float32Array.from([0.5, 0.50001, 0.1]);
    expect([...predictedClasses({ classes: 2, labels: new Int32Array(3), outputs })]).toEqual([0, 1, 0]);
  });
});

describe("metricsOf", () => {
  it("judges two classes by the second", () => {
    // Predicted 1, 0, 1, 0: one hit, one miss, one false alarm.
    const metrics = metricsOf({
      classes: 2,
      labels: Int32Array.from([1, 1, 0, 0]),
      outputs: Float32Array.from([0.75, 0.25, 0.625, 0.125]),
    });
    expect(metrics).toMatchObject({ accuracy: 0.5, precision: 0.5, recall: 0.5, f1: 0.5, auc: 0.75 });
    expect(metrics["logLoss"]).toBeCloseTo(
      -(Math.log(0.75) + Math.log(0.25) + Math.log(0.375) + Math.log(0.875)) / 4,
      14,
    );
    expect(metrics["prAuc"]).toBeCloseTo(1 / 2 + (1 / 2) * (2 / 3), 14);
  });

  it("judges more classes by macro averages, one against the rest", () => {
    const metrics = metricsOf({
      classes: 3,
      labels: Int32Array.from([0, 1, 2, 2]),
      outputs: Float32Array.from([0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.125, 0.125, 0.75, 0.25, 0.25, 0.5]),
    });
    // Predicted 0, 0, 2, 2. F1: 2/3, 0, 1. Class 0 ties once in three pairs, class 1 twice, class 2 is perfect.
    expect(metrics["f1"]).toBeCloseTo((2 / 3 + 0 + 1) / 3, 14);
    expect(metrics["f1Weighted"]).toBeCloseTo((2 / 3 + 0 + 2) / 4, 14);
    expect(metrics["auc"]).toBeCloseTo((2.5 / 3 + 2 / 3 + 1) / 3, 14);
    expect(metrics["accuracy"]).toBe(0.75);
  });

  it("leaves out what is undefined", () => {
    const one = metricsOf({ classes: 2, labels: Int32Array.from([1]), outputs: Float32Array.from([0.75]) });
    expect(Object.keys(one)).not.toContain("auc");
    expect(one["accuracy"]).toBe(1);
    expect(metricsOf({ classes: 0, labels: Float32Array.from([1]), outputs: Float32Array.from([3]) })).toEqual({
      rmse: 2,
      mae: 2,
    });
  });

  it.each([0, 2, 3])("says so where there are no rows, of %i classes", (classes) => {
    const none = {
      classes,
      labels: classes === 0 ? new Float32Array(0) : new Int32Array(0),
      outputs: new Float32Array(0),
    };
    expect(() => metricsOf(none)).toThrow(expect.objectContaining({ code: "NO_ROWS_TO_MEASURE" }));
  });

  it("judges values", () => {
    expect(metricsOf({ classes: 0, labels: Float32Array.from([1, 3]), outputs: Float32Array.from([1, 2]) })).toEqual({
      rmse: Math.sqrt(0.5),
      mae: 0.5,
      r2: 0.5,
    });
  });
});

describe("selectRows", () => {
  it("takes rows in the order requested", () => {
    const some = selectRows(
      { classes: 3, labels: Int32Array.from([0, 1, 2]), outputs: Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9]) },
      Uint32Array.from([2, 0]),
    );
    expect([...some.labels, ...some.outputs]).toEqual([2, 0, 7, 8, 9, 1, 2, 3]);
  });
});
