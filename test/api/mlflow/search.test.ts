import { parseLoggedModelFilter } from "../../../api/mlflow/search/logged-models";
import { parseExperimentFilter } from "../../../api/mlflow/tracking/experiments";
import { mlflowRuns } from "../../../api/mlflow/tracking/run-search";
import { SearchSyntaxError } from "../../../core/tracking/search/errors";

describe("a filter of MLflow's clients", () => {
  it("becomes the tree of the native language", () => {
    expect(mlflowRuns.parseFilter("metrics.loss > .5 AND run_id IN ('a',)", 0)).toEqual({
      type: "and",
      operands: [
        {
          type: "compare",
          field: { kind: "metric", name: "loss", aspect: "last", exact: true },
          comparator: ">",
          value: 0.5,
        },
        { type: "in", field: { kind: "attribute", name: "run_id" }, negated: false, values: ["a"] },
      ],
    });
  });

  it.each([
    ["metrics.loss > '1'", 16, "must be a number without quotes"],
    ["metrics.loss LIKE 'a'", 14, "is not a comparator of this field"],
    ["metrics.a-b > 1", 1, "has a name with special characters"],
    ["params.lr = 0.1", 13, "must be a text in quotes"],
    [`tags.note LIKE '${"a_".repeat(501)}'`, 16, "has 1002 characters in its parts with _"],
    ["params.lr NOT LIKE 'a'", 11, "is not a comparator of this field"],
    ["params.lr = '1' OR params.lr = '2'", 17, "a field was expected"],
    ["NOT params.lr = '1'", 1, "a field was expected"],
    ["min(metrics.loss) > 1", 1, "is not an attribute of a run"],
    ["start_time > now-1d", 14, "must be a number without quotes"],
    ["status IN ('RUNNING')", 8, "is not a comparator of this field"],
    ["foo.a = 'x'", 1, "must begin with metrics."],
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

  it.each(["name = foo", "tags.team = foo", "params.lr = 3"])(
    "of logged models needs quotes around a text: %s is refused",
    (filter) => {
      expect(() => parseLoggedModelFilter(filter)).toThrow("must be a text in quotes");
    },
  );

  it("compares ids of experiments as numbers", () => {
    const at = "2026-01-01T00:00:00Z";
    const meets = parseExperimentFilter("experiment_id IN ('007') AND tags.team IS NULL");
    expect(meets({ experimentId: "7", name: "x", tags: {}, createdAt: at, updatedAt: at })).toBe(true);
    expect(meets({ experimentId: "7", name: "x", tags: { team: "a" }, createdAt: at, updatedAt: at })).toBe(false);
  });
});
