import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { compareRuns } from "../../api/compare/compare";
import type { Comparison } from "../../api/compare/comparison";
import { comparisonMarkdown } from "../../api/compare/markdown";
import { comparisonHtml } from "../../api/pages/comparison/page";
import { toJson } from "../../core/json-text";
import { comparedRuns, requestOf } from "../api/compare/compared";
import { runOf } from "../core/tracking/search/runs";
import { runCli } from "../support/cli";
import { startServer, type WebServer } from "../support/web-server";

const requested: { readonly path: string; readonly body: unknown }[] = [];
let answer: unknown;
let server: WebServer;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), "ringmaster-cli-"));
  server = await startServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    requested.push({ path: request.url ?? "", body });
    if (body.format === "markdown") response.end(comparisonMarkdown(answer as Comparison));
    else if (body.format === "html") response.end(comparisonHtml(answer as Comparison, "2026-01-01").html);
    else response.setHeader("content-type", "application/json").end(toJson(answer));
  });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => {
  requested.length = 0;
});

const run = (...args: readonly string[]) => runCli(["--api", server.endpoint, "runs", ...args]);

it("runs search: sends the options' query, and shows the fields of the order", async () => {
  const {
    job: _job,
    environment: _environment,
    ...summary
  } = runOf("run-1", { name: "first", params: { depth: "3" } });
  const metrics = [{ metric: "val_loss", last: 0.25, lastStep: 1, lastTime: 1, min: 0.25, max: 1 }];
  answer = { runs: [{ run: summary, metrics }], total: 7, nextToken: "page-2" };
  const { out } = await run(
    "search",
    "params.depth > 2",
    "--order",
    "metrics.val_loss DESC",
    "--experiment",
    "a",
    "--experiment",
    "b",
    "--limit",
    "5",
  );
  expect(requested).toEqual([
    {
      path: "/api/v1/runs/search",
      body: {
        experiments: ["a", "b"],
        filter: "params.depth > 2",
        orderBy: ["metrics.val_loss DESC"],
        limit: 5,
        view: "active",
      },
    },
  ]);
  expect(out).toMatch(/run-1\s+first\s+completed\s+0\.25\s+1970-01-01 00:00:01\s+–/);
  expect(out).toContain("metrics.val_loss");
  expect(out).toContain("1 of 7 runs; next page: --page-token page-2");
  expect(JSON.parse((await run("search", "--json")).out)).toEqual(answer);
  expect((await run("search", "--column", "params.depth")).out).toMatch(/params\.depth[\s\S]*3/);
  expect((await run("search", "--limit", "many")).code).toBe(2);
});

it("runs search: says so where nothing was found", async () => {
  answer = { runs: [], total: 0 };
  expect((await run("search", "params.depth > 9")).out).toBe("no run matches the filter\n");
  expect((await run("search")).out).toBe("no runs\n");
});

it("runs compare: a report that cannot be written is bad input", async () => {
  answer = await compareRuns(comparedRuns(), requestOf({ baseline: "a" }));
  const { code, err } = await run("compare", "a", "b", "--html", path.join(directory, "none", "report.html"));
  expect([code, err]).toEqual([2, expect.stringMatching(/--html is ".*", but must be a writable file/)]);
});

it("runs compare: a table, Markdown, a page, JSON", async () => {
  answer = await compareRuns(comparedRuns(), requestOf({ baseline: "a" }));
  expect((await run("compare", "a", "b", "c", "--baseline", "a")).out).toMatch(
    /validation\/loss\s+0\.5\s+0\.25 \(-0\.25\) \*\s+NaN/,
  );
  expect(requested[0]).toEqual({
    path: "/api/v1/runs/compare",
    body: { runs: ["a", "b", "c"], baseline: "a", metrics: [], axis: "step", points: 0 },
  });
  expect((await run("compare", "a", "b", "--markdown")).out).toContain("## Params that differ");
  const file = path.join(directory, "report.html");
  expect(
    (await run("compare", "--top", "3", "--metric", "val_loss", "--experiment", "digits", "--html", file)).out,
  ).toBe(`${file}\n`);
  expect(readFileSync(file, "utf8")).toContain("<!doctype html>");
  expect(requested.at(-1)!.body).toMatchObject({
    top: { metric: "val_loss", count: 3, experiments: ["digits"], filter: "" },
    points: 400,
  });
  expect(JSON.parse((await run("compare", "a", "--json")).out)).toEqual(JSON.parse(toJson(answer)));
});

it.each([
  [["compare"]],
  [["compare", "a", "--top", "3"]],
  [["compare", "--top", "3"]],
  [["search", "--column", "depth"]],
  [["metrics", "a", "--points", "3"]],
])("runs %j is bad input", async (args) => {
  expect((await run(...args)).code).toBe(2);
  expect(requested).toEqual([]);
});
