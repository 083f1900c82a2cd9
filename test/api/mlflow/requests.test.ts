import { parseLoggedModelFilter } from "../../../api/mlflow/search/logged-models";
import { parseExperimentFilter, resolvedLocation } from "../../../api/mlflow/tracking/experiments";
import { seriesOf } from "../../../api/mlflow/tracking/log-batch";
import { sampled } from "../../../api/mlflow/tracking/metrics";
import { mlflowRuns } from "../../../api/mlflow/tracking/run-search";
import { SearchSyntaxError } from "../../../core/tracking/search/errors";

// The right column is what MLflow 3.17's server, started in /srv/work, answered.
it.each([
  ["a/b", "/srv/work/a/b"],
  ["./z", "/srv/work/z"],
  ["../w", "/srv/work/../w"],
  ["~/x", "/srv/work/~/x"],
  [".", "/srv/work"],
  ["a b/c", "/srv/work/a b/c"],
  ["relative?x=y", "/srv/work/relative?x=y"],
  ["file:x/y", "file:///srv/work/x/y"],
  ["file:", "file:///srv/work"],
  ["file:path?param=value", "file:///srv/work/path?param=value"],
  ["/a/b", "/a/b"],
  ["file:///a/../b", "file:///a/../b"],
  ["s3:/x", "s3:/x"],
  ["s3://bucket/a", "s3://bucket/a"],
  ["mlflow-artifacts:/1", "mlflow-artifacts:/1"],
  ["dbfs:/x", "dbfs:/x"],
])("%s leads to %s", (location, expected) => {
  expect(resolvedLocation(location, "/srv/work")).toBe(expected);
  expect(resolvedLocation(location, undefined)).toBe(location);
});

const metric = (key: string, step: number, timestamp: number, value: number) => ({ key, step, timestamp, value });

describe("a batch as columns", () => {
  it("is by metric, ascending by step, time and value, each point once", () => {
    expect(
      seriesOf([
        metric("b", 0, 1, 5),
        metric("a", 2, 1, 1),
        metric("a", 1, 2, 3),
        metric("a", 1, 1, 4),
        metric("a", 1, 1, 2),
        metric("a", 1, 1, 4),
        metric("a", 1, 1, Number.NaN),
        metric("a", 1, 1, Number.NaN),
        metric("a", 1, 1, Number.NEGATIVE_INFINITY),
      ]),
    ).toEqual([
      { metric: "b", steps: [0], values: [5], times: [1] },
      {
        metric: "a",
        steps: [1, 1, 1, 1, 1, 2],
        values: [Number.NEGATIVE_INFINITY, 2, 4, Number.NaN, 3, 1],
        times: [1, 1, 1, 1, 2, 1],
      },
    ]);
  });
});

describe("a sample", () => {
  const points = Array.from({ length: 10 }, (_, step) => ({ step, time: 1, value: step * step }));
  // SQL's NTILE(4) of ten rows: 3, 3, 2, 2.
  it.each([
    [4, [0, 3, 6, 9]],
    [3, [0, 4, 9]],
    [2, [0, 9]],
    [1, [9]],
    [10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [99, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ])("of %d has the first of each bucket, and the last point", (most, steps) =>
    expect(sampled([...points].reverse(), most).map(({ step }) => step)).toEqual(steps),
  );
});

describe("a filter of MLflow's clients", () => {
  it.each([
    ["metrics.loss > '1'", 16, "must be a number without quotes"],
    ["metrics.a-b > 1", 1, "has a name with special characters"],
    ["params.lr = 0.1", 13, "must be a text in quotes"],
    [`tags.note LIKE '${"a_".repeat(501)}'`, 16, "has 1002 characters in its parts with _"],
    ["params.lr = '1' OR params.lr = '2'", 17, "a field was expected"],
    ["start_time > now-1d", 14, "must be a number without quotes"],
    [`"run_name" = 'x'`, 1, "a field was expected"],
  ])("%s is refused at character %d: %s", (filter, position, rule) => {
    expect(() => mlflowRuns.parseFilter(filter, 0)).toThrow(SearchSyntaxError);
    expect(() => mlflowRuns.parseFilter(filter, 0)).toThrow(`filter at character ${position} `);
    expect(() => mlflowRuns.parseFilter(filter, 0)).toThrow(rule);
  });

  it("accepts double quotes around a name after its dot, and backticks around any name", () => {
    expect(mlflowRuns.parseFilter(`metrics."a b" > 1`, 0)).toEqual(mlflowRuns.parseFilter("metrics.`a b` > 1", 0));
    expect(mlflowRuns.parseFilter("`run_name` = 'x'", 0)).toEqual(mlflowRuns.parseFilter("run_name = 'x'", 0));
    expect(() => parseExperimentFilter(`"name" = 'x'`)).toThrow("a field was expected");
    expect(() => parseLoggedModelFilter(`"name" = 'x'`)).toThrow("a field was expected");
  });
});
