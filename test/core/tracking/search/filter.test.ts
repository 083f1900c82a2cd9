import { AmbiguousNameError, SearchSyntaxError } from "../../../../core/tracking/search/errors";
import { parseFilter, parseOrder } from "../../../../core/tracking/search/native";
import { searchLimits } from "../../../../core/tracking/shapes";
import { datasetOf, found, runOf, testRun } from "./runs";

const day = (text: string): number => Date.parse(text);

const runs = [
  testRun(
    runOf("a", {
      name: "baseline",
      status: "completed",
      startedAt: day("2026-03-01T10:00:00Z"),
      endedAt: day("2026-03-01T10:02:00Z"),
      params: { "hyperparameters.learningRate": "0.001", "model.type": "mlp", depth: "3", cached: "True" },
      tags: { team: "vision", "mlflow.source.name": "train.py" },
      datasets: [datasetOf("digits", { version: 2, tags: { "mlflow.data.context": "training" } }), datasetOf("extra")],
      seed: 7,
      code: { commit: "abc123", dirty: false },
    }),
    { val_loss: [0.5, 0.4, 2, 90], "train/loss": 0.3 },
  ),
  testRun(
    runOf("b", {
      name: "wide net",
      status: "failed",
      startedAt: day("2026-03-02T10:00:00Z"),
      params: { learning_rate: "1e-4", "model.type": "cnn", depth: "12" },
      tags: { team: "audio" },
      experimentId: "2",
      parentRunId: "a",
    }),
    { "validation/loss": Number.NaN, accuracy: 0.25 },
  ),
  testRun(
    runOf("c", {
      name: "it's 100%",
      status: "running",
      startedAt: day("2026-03-03T10:00:00Z"),
      params: { "optimizer.lr": "adam", learningRate: "0.1" },
      createdBy: "bob",
    }),
    { "val/loss": Number.POSITIVE_INFINITY },
  ),
  testRun(runOf("d", { name: "deleted", lifecycle: "deleted" })),
];

describe("a filter", () => {
  it.each([
    ["", "c b a"],
    // Metrics: last, least, greatest, step; a NaN is neither less nor greater.
    ["metrics.val_loss < 1", "a"],
    ["metrics.val_loss >= 0.5", "c a"],
    ["metric.accuracy = 2.5e-1", "b"],
    ["min(metrics.val_loss) <= .4", "a"],
    ["max(metrics.`val_loss`) = 2", "a"],
    ["step(metrics.val_loss) = 90 and last(metrics.val_loss) = 0.5", "a"],
    ["metrics.train/loss < 1", "a"],
    ['metrics."train/loss" BETWEEN 0.3 AND 0.3', "a"],
    ["metrics.val_loss = NaN", "b"],
    ["metrics.val_loss = Infinity", "c"],
    ["metrics.accuracy is not null", "b"],
    // A name in quotes means only itself.
    ["metrics.`val_loss` > 0", "a"],
    // Params: numbers as numbers, texts as texts, short names for long ones.
    ["params.learning_rate BETWEEN 1e-4 AND 1e-3", "b a"],
    ["params.hyperparameters.learningRate <= 0.001", "a"],
    ["params.`learning_rate` > 0", "b"],
    ["params.type IN ('mlp', 'rnn')", "a"],
    ["params.lr < 1", ""],
    ["params.cached = true", "a"],
    ["params.constructor IS NULL AND params.__proto__ IS NULL", "c b a"],
    // Tags, and what of a record MLflow calls a tag.
    ["tags.team = 'vision'", "a"],
    ["tags.mlflow.source.name LIKE '%.py'", "a"],
    ["tags.`mlflow.runName` = 'wide net'", "b"],
    ["tags.team ILIKE 'V%'", "a"],
    ["name = 'it''s 100%'", "c"],
    ['name = "it\'s 100%"', "c"],
    // Attributes.
    ["status = 'FINISHED'", "a"],
    ["attributes.status IN ('failed', 'Running')", "c b"],
    ["start_time > '2026-03-01T10:00:00Z'", "c b"],
    ["start_time BETWEEN '2026-03-02' AND '2026-03-02T23:59:59+00:00'", "b"],
    [`start_time = ${day("2026-03-02T10:00:00Z")}`, "b"],
    ["start_time < '2026-03-01 11:00'", "a"],
    ["duration = 120", "a"],
    ["end_time IS NULL", "c b"],
    ["created_by = 'bob'", "c"],
    ["user_id != 'bob'", "b a"],
    ["experiment = 'prices'", "b"],
    ["parent = 'a'", "b"],
    ["seed < 8 AND commit LIKE 'abc%' AND dirty = false", "a"],
    // Datasets: one of a run's, or none.
    ["dataset.name = 'digits'", "a"],
    ["dataset.name != 'digits'", "a"],
    ["NOT dataset.name = 'digits'", "c b"],
    ["dataset.version >= 2", "a"],
    ["dataset.context = 'training'", "a"],
    ["dataset.name IS NULL", "c b"],
    // AND binds closer than OR, NOT closer than both; parentheses.
    ["run_id = 'a' OR run_id = 'b' AND status = 'running'", "a"],
    ["(run_id = 'a' OR run_id = 'b') AND status = 'failed'", "b"],
    ["not not run_id='a'", "a"],
  ])("%s finds %s", (filter, ids) => {
    expect(found(runs, { filter }).join(" ")).toBe(ids);
  });

  it.each([
    ["started > now-1d", "c"],
    ["started > NOW - 26h", "c b"],
    ["start_time BETWEEN now-3d AND now - 1d - 12h", "a"],
    ["ended < now-2880m", "a"],
    ["started IN (now-90000s, now+1w)", "b"],
    ["took < 121", "a"],
    // A name is a name.
    ["metrics.now IS NULL AND params.now-7d IS NULL", "c b a"],
  ])("%s finds %s, by the clock", (filter, ids) => {
    expect(found(runs, { filter }, Date.parse("2026-03-03T11:00:00Z")).join(" ")).toBe(ids);
  });

  it("sees deleted runs where they are requested", () => {
    expect(found(runs, { view: "deleted" })).toEqual(["d"]);
    expect(found(runs, { view: "all", filter: "lifecycle = 'deleted' OR run_id = 'a'" })).toEqual(["a", "d"]);
  });
});

describe("a filter that is none", () => {
  it.each([
    ["metrics.loss >", 15, "", "a value was expected", undefined],
    ["metrics.loss > 1 AND", 21, "", "a field was expected", undefined],
    ["metrics.loss > 1 metrics.b > 2", 18, "metrics", "AND, OR or the end", undefined],
    ["(metrics.loss > 1", 18, "", "a closing parenthesis", undefined],
    ["metrics.loss > 1)", 17, ")", "AND, OR or the end", "one ) too many"],
    ["metrics.loss == 1", 14, "==", "not a comparison", "write ="],
    ["metrics.loss <> 1", 14, "<>", "not a comparison", "write !="],
    ["metrics.loss > '1'", 16, "'1'", "must be a number, because metrics.loss is a number", "write 1 without quotes"],
    ["metrics.loss > abc", 16, "abc", "a value was expected", "put text in quotes: 'abc'"],
    ["metrics.loss < nan", 16, "nan", "has no order", "metrics.loss = NaN finds"],
    ["metrics.loss LIKE '1%'", 19, "'1%'", "metrics.loss is a number", "use <"],
    ["metrcs.loss > 1", 1, "metrcs.loss", "must begin with", "did you mean metrics.loss?"],
    ["statu = 'failed'", 1, "statu", "not an attribute of a run", "did you mean status?"],
    ["learning_rate > 1", 1, "learning_rate", "not an attribute", "write params.learning_rate"],
    ["dataset = 'digits'", 1, "dataset", "not an attribute of a run", "did you mean dataset.name or dataset.version?"],
    ["status = 'complete'", 10, "'complete'", "is not a status", "did you mean 'completed'?"],
    ["status < 'failed'", 10, "'failed'", "has no order", "with = or !="],
    ["start_time > 'yesterday'", 14, "'yesterday'", "must be a time", "2026-03-01T12:00:00Z"],
    ["params.lr > '0.1'", 13, "'0.1'", "ordered by its characters", "write 0.1 without quotes"],
    ["params.lr BETWEEN 1 AND 'a'", 25, "'a'", "must be a number, like the lower bound", undefined],
    ["params.lr BETWEEN 1 OR 2", 21, "OR", "the AND of BETWEEN", undefined],
    ["params.lr IN 1", 14, "1", "the ( of IN was expected", undefined],
    ["params.lr IS 3", 14, "3", "NULL or NOT NULL", undefined],
    ["name = 'abc", 8, "'abc", "is not closed", "close it with '"],
    ["dataset.size = 1", 1, "dataset.size", "dataset.version", undefined],
    ["min(params.lr) > 1", 1, "min", "only with metrics", undefined],
    ["metrics. > 1", 10, ">", "the name after metrics.", undefined],
    ["a ; b", 3, ";", "is not part of the search language", "backticks"],
    ["seed = 'x'", 8, "'x'", "must be a number", undefined],
    ["started > now-7", 11, "now-7", "is not a time", "write now-7d"],
    ["started > now - 7", 15, "-", "is not part of the search language", "write now-7d"],
    ["started > 'now-7d'", 11, "'now-7d'", "must be a time", "without quotes"],
    ["started > now-1y", 11, "now-1y", "is not a time", "seconds, minutes, hours, days or weeks"],
    ["metrics.loss > now-7d", 16, "now-7d", "is a time, but metrics.loss is not a time", undefined],
    ["name = now", 8, "now", "is a time", "'now'"],
    ["started LIKE now", 14, "now", "attributes.start_time is a time", "use <"],
    ["dirty = 3", 9, "3", "must be true or false", undefined],
  ])("%s is refused at character %i", (filter, position, token, rule, suggestion) => {
    const error = refusal(filter);
    expect(error.problem).toMatchObject({ position, token });
    expect(error.message).toContain(rule);
    if (suggestion === undefined) expect(error.problem.suggestion).toBeUndefined();
    else expect(error.problem.suggestion).toContain(suggestion);
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.details.problems[0]!.path).toBe(`filter at character ${position}`);
  });

  it("is one that is too long, too deep, or has too much in it", () => {
    const nested = (levels: number): string => `${"(".repeat(levels)}seed = 1${")".repeat(levels)}`;
    expect(() => parseFilter(nested(searchLimits.depth), 0)).not.toThrow();
    expect(() => parseFilter(nested(searchLimits.depth + 1), 0)).toThrow("33 levels deep");
    expect(() => parseFilter("NOT ".repeat(1_000), 0)).toThrow("levels");
    const conditions = (count: number): string => Array.from({ length: count }, () => "seed = 1").join(" OR ");
    expect(() => parseFilter(conditions(searchLimits.conditions), 0)).not.toThrow();
    expect(() => parseFilter(conditions(searchLimits.conditions + 1), 0)).toThrow("is condition 201");
    const list = (count: number): string => `seed IN (${Array.from({ length: count }, () => "1").join(",")})`;
    expect(() => parseFilter(list(searchLimits.listLength), 0)).not.toThrow();
    expect(() => parseFilter(list(searchLimits.listLength + 1), 0)).toThrow("at most 1000 values");
    expect(() => parseFilter("x".repeat(searchLimits.filterLength + 1), 0)).toThrow("more than the maximum of 16384");
    const like = (length: number): string => `name LIKE '${"a".repeat(5_000)}%${"_".repeat(length)}%'`;
    expect(() => parseFilter(like(1_000), 0)).not.toThrow();
    expect(() => parseFilter(like(1_001), 0)).toThrow(
      "has 1001 characters in its parts with _, but may have at most 1000",
    );
  });

  it("is one whose short name means several params of a run, whatever the rest says of that run", () => {
    const both = testRun(runOf("both", { params: { "head.depth": "1", "tail.depth": "2" } }));
    const search = (): unknown => found([both], { filter: "run_id = 'other' AND params.depth = 1" });
    expect(search).toThrow(AmbiguousNameError);
    expect(search).toThrow("matches several params of run both: `head.depth`, `tail.depth`");
    expect(() => found([both], { orderBy: ["params.depth"] })).toThrow(AmbiguousNameError);
    expect(found([both], { filter: "params.head.depth = 1" })).toEqual(["both"]);
    expect(found([both], { filter: "params.`depth` IS NULL" })).toEqual(["both"]);
    // A run with the very name means that.
    const exact = testRun(runOf("exact", { params: { depth: "1", "head.depth": "3" } }));
    expect(found([exact], { filter: "params.depth = 1" })).toEqual(["exact"]);
    // Runs that are not looked at make nothing ambiguous.
    const deleted = { ...both, record: { ...both.record, lifecycle: "deleted" as const } };
    expect(found([deleted, exact], { filter: "params.depth = 1" })).toEqual(["exact"]);
  });
});

describe("what a refusal points at", () => {
  it.each([
    ["metrics.loss > abc AND x = 1", "metrics.loss > abc AND x = 1", "               ^^^"],
    ["metrics.loss >", "metrics.loss >", "              ^"],
    ["a\n\t; b", "a  ; b", "   ^"],
  ])("of %j is on the line below", (filter, line, marks) => {
    expect(refusal(filter).details.search.excerpt).toEqual({ line, marks });
  });

  it("is in the middle of what is shown of a long one", () => {
    const long = `${"metrics.loss > 1 AND ".repeat(20)}oops ${" OR seed = 1".repeat(20)}`;
    const { line, marks } = refusal(long).details.search.excerpt!;
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line.slice(marks.indexOf("^"), marks.length)).toBe("oops");
    expect(line).toMatch(/^… .* …$/);
  });

  it("is an order's, too", () => {
    expect.assertions(1);
    try {
      parseOrder(["metrics.loss", "metrics.acc SIDEWAYS"]);
    } catch (error) {
      expect((error as SearchSyntaxError).details.search.excerpt).toEqual({
        line: "metrics.acc SIDEWAYS",
        marks: "            ^^^^^^^^",
      });
    }
  });
});

function refusal(filter: string): SearchSyntaxError {
  try {
    parseFilter(filter, 0);
  } catch (error) {
    if (error instanceof SearchSyntaxError) return error;
    throw error;
  }
  throw new Error(`${filter} was taken for a filter`);
}
