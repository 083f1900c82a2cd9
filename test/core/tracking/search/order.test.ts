import { mlflowRuns } from "../../../../api/mlflow/tracking/run-search";
import { PageTokenError, SearchSyntaxError } from "../../../../core/tracking/search/errors";
import { parseOrder } from "../../../../core/tracking/search/native";
import { planQuery, selectPage } from "../../../../core/tracking/search/run-search";
import { experimentNames, found, queryOf, rowsOf, runOf, type TestRun, testRun } from "./runs";

const runs = [
  testRun(runOf("a", { startedAt: 1, params: { depth: "9" }, tags: { n: "x" } }), { loss: [0.5, 0.1, 1, 1] }),
  testRun(runOf("b", { startedAt: 2, params: { depth: "10" } }), { loss: [Number.NaN, 0.4, 1, 1] }),
  testRun(runOf("c", { startedAt: 3, params: { depth: "deep" } })),
  testRun(runOf("d", { startedAt: 4 }), { loss: [Number.NEGATIVE_INFINITY, 0.3, 1, 1] }),
  testRun(runOf("e", { startedAt: 4, params: { depth: "-1" } }), { loss: [0.5, 0.2, 1, 1] }),
];

describe("an order", () => {
  it.each([
    [[], "d e c b a"],
    [["metrics.loss"], "d e a b c"],
    [["metrics.loss DESC"], "e a d b c"],
    [["metrics.loss asc, start_time ASC"], "d a e b c"],
    [["metrics.loss", "start_time"], "d a e b c"],
    [["min(metrics.loss) desc"], "b d e a c"],
    [["params.depth"], "e a b c d"],
    [["params.depth DESC"], "c b a e d"],
    [["tags.n"], "a d e c b"],
    [["start_time"], "a b c d e"],
    [["name DESC"], "e d c b a"],
  ])("%j is %s", (orderBy, ids) => {
    expect(found(runs, { orderBy }).join(" ")).toBe(ids);
    expect(found([...runs].reverse(), { orderBy }).join(" ")).toBe(ids);
  });

  it("compares params as texts in MLflow's dialect", () => {
    expect(found(runs, { orderBy: ["params.depth"], language: mlflowRuns }).join(" ")).toBe("e b a c d");
  });

  it.each([
    ["metrics.loss sideways", 14, "ASC, DESC, a comma or the end"],
    ["", 1, "a field was expected"],
    ["metrics.loss,", 14, "a field was expected"],
    ["dataset.name", 1, "several datasets"],
    ["loss", 1, "not an attribute"],
  ])("%j is refused", (text, position, rule) => {
    expect(() => parseOrder([text])).toThrow(SearchSyntaxError);
    expect(() => parseOrder([text])).toThrow(`orderBy at character ${position}`);
    expect(() => parseOrder([text])).toThrow(rule);
  });

  it("has at most eight terms", () => {
    expect(parseOrder(Array.from({ length: 8 }, () => "name"))).toHaveLength(8);
    expect(() => parseOrder(Array.from({ length: 9 }, () => "name"))).toThrow("more than the maximum of 8");
  });
});

describe("pages", () => {
  const page = (all: readonly TestRun[], limit: number, pageToken?: string, orderBy = ["metrics.loss"]) => {
    const query = queryOf({ orderBy, limit, ...(pageToken === undefined ? {} : { pageToken }) });
    const { rows, nextToken } = selectPage(planQuery(query, 0), rowsOf(all), { experimentNames });
    return { ids: rows.map(({ record }) => record.runId), nextToken };
  };

  it("are of their own query alone", () => {
    const { nextToken } = page(runs, 2);
    expect(() => page(runs, 2, nextToken, ["metrics.loss DESC"])).toThrow(PageTokenError);
    expect(() => page(runs, 2, nextToken, ["metrics.loss DESC"])).toThrow("belongs to another query");
    expect(page(runs, 3, nextToken).ids).toEqual(["a", "b", "c"]);
  });

  it.each([
    ["nothing of ours", "%%%"],
    ["empty", ""],
    ["other JSON", Buffer.from("{}").toString("base64url")],
    ["of another version", Buffer.from(JSON.stringify([2, "", [], 1, "a"])).toString("base64url")],
  ])("have no token that is %s", (_what, token) => {
    expect(() => page(runs, 2, token)).toThrow(PageTokenError);
  });

  it("have no token whose values are not the order's", () => {
    const [version, digest] = JSON.parse(Buffer.from(page(runs, 2).nextToken!, "base64url").toString()) as unknown[];
    for (const values of [[], [["n", "x"]], [["t", 1]], [3], "x", [["n", 1], null]]) {
      const forged = Buffer.from(JSON.stringify([version, digest, values, 1, "a"])).toString("base64url");
      expect(() => page(runs, 2, forged)).toThrow("not a token");
    }
  });
});
