import type { ApiClient } from "../../client/api-client";
import type { Answer, Request } from "../../client/operations";
import { InvalidInputError, type Problem } from "../../core/errors";
import { timeText } from "../../core/quantities";
import { displayedStatus } from "../../core/runs/run";
import { type Command, wholeNumber } from "../command";
import { groupTag } from "../group";
import { formatNumber, printJson, printTable } from "../output";
import { tookOf } from "../record-lines";
import { cellOf, checkColumns, usualColumns } from "../run-columns";
import { writeFileOf } from "../write-file";

type CompareRequest = Request<"compareRuns">["body"];
type Comparison = Extract<Answer<"compareRuns">, { readonly runs: unknown }>;
type SearchedRun = Answer<"searchRuns">["runs"][number];

interface SearchOptions {
  readonly experiment: readonly string[];
  readonly order: readonly string[];
  readonly limit: number;
  readonly pageToken?: string;
  readonly view: "active" | "deleted" | "all";
  readonly column: readonly string[];
}

interface CompareOptions {
  readonly group?: string;
  readonly top?: number;
  readonly metric?: string;
  readonly goal?: "min" | "max";
  readonly experiment: readonly string[];
  readonly filter: string;
  readonly baseline?: string;
  readonly show: readonly string[];
  readonly axis: "step" | "time" | "relative-time";
  readonly points: number;
  readonly html?: string;
  readonly markdown?: boolean;
}

export function addSearchCommands(runs: Command): void {
  runs
    .command("search [filter]")
    .description(
      "find runs by a filter, e.g. \"params.learning_rate < 1e-3 AND status = 'completed'\" (docs/search.md)",
    )
    .repeatable("--experiment <name-or-id>", "only runs of this experiment (default: all)")
    .repeatable("--order <field>", "sort by this field, e.g. 'metrics.val_loss' or 'start_time DESC'")
    .repeatable("--column <metric-or-param>", "show metrics.NAME, params.NAME or tags.NAME")
    .option("--limit <n>", "maximum number of runs, at most 1000", wholeNumber("--limit"), 20)
    .option("--page-token <token>", "continue an earlier search")
    .option("--view <view>", "runs to search: active, deleted or all", "active")
    .handle(async ({ client, json }, filter: string | undefined, options: SearchOptions) => {
      const { experiment, order, limit, pageToken, view, column } = options;
      checkColumns(column);
      const page = await client.call("searchRuns", {
        body: {
          experiments: [...experiment],
          filter: filter ?? "",
          orderBy: [...order],
          limit,
          view,
          pageToken,
        },
      });
      if (json) printJson(page);
      else if (page.runs.length === 0 && pageToken === undefined) {
        process.stdout.write(filter ? "no run matches the filter\n" : "no runs\n");
      } else {
        const columns = column.length > 0 ? column : usualColumns(page.runs, order);
        printTable(
          ["RUN", "NAME", "STATUS", ...columns, "STARTED (UTC)", "TOOK"],
          page.runs.map((run) => row(run, columns)),
        );
        if (page.nextToken !== undefined) {
          const shownPart = `${page.runs.length} of ${page.total} runs`;
          process.stdout.write(`${shownPart}; next page: --page-token ${page.nextToken}\n`);
        }
      }
    });

  runs
    .command("compare [run...]")
    .description("compare the named runs, or the best runs by a metric (docs/compare.md)")
    .option("--group <group>", "compare the runs that one `submit` started")
    .option("--top <n>", "compare the best n runs by --metric", wholeNumber("--top"))
    .option("--metric <metric>", "metric that --top ranks by")
    .option("--goal <goal>", "min or max (default: derived from the metric's name)")
    .repeatable("--experiment <name-or-id>", "experiment that --top searches (default: all)")
    .option("--filter <filter>", "filter for --top", "")
    .option("--baseline <run>", "run that the metrics of the others are compared with")
    .repeatable("--show <metric>", "show only this metric")
    .option("--axis <axis>", "x axis of curves: step, time or relative-time", "step")
    .option("--points <n>", "maximum number of points of a curve", wholeNumber("--points"), 400)
    .option("--html <file>", "write a self-contained page with plots")
    .option("--markdown", "print the comparison as Markdown")
    .handle(async ({ client, json }, named: readonly string[], options: CompareOptions) => {
      const members = options.group === undefined ? [] : await runsOfGroup(client, options.group);
      const body = compareRequest([...named, ...members], options);
      const textIn = (format: "html" | "markdown") =>
        client.text("compareRuns", { body: { ...body, format } }).catch(inOptions);
      if (options.html !== undefined) writeFileOf("--html", options.html, await textIn("html"));
      if (options.markdown && !json) process.stdout.write(await textIn("markdown"));
      else if (options.html !== undefined && !json) process.stdout.write(`${options.html}\n`);
      else {
        const comparison = await client.call("compareRuns", { body }).catch(inOptions);
        if (json) printJson(comparison);
        else printComparison(comparison);
      }
    });
}

const optionsOf: Readonly<Record<string, string>> = {
  "top.goal": "--goal",
  "top.count": "--top",
  "top.metric": "--metric",
  "top.filter": "--filter",
  points: "--points",
  axis: "--axis",
  metrics: "--show",
};

/** Rewrites the API's errors in terms of the command's options. */
function inOptions(error: unknown): never {
  const { code, details } = error as {
    readonly code?: string;
    readonly details?: { readonly problems?: readonly Problem[] };
  };
  if (code !== "INVALID_INPUT" || !details?.problems?.some(({ path }) => Object.hasOwn(optionsOf, path))) throw error;
  const problems = details.problems.map(({ path, value, rule }) => ({
    path: Object.hasOwn(optionsOf, path) ? optionsOf[path]! : path,
    value,
    rule: rule.replace('set goal: "min" or "max"', "set --goal min or --goal max"),
  }));
  throw new InvalidInputError("the runs cannot be compared", problems, error);
}

async function runsOfGroup(client: ApiClient, group: string): Promise<readonly string[]> {
  const filter = `tags."${groupTag}" = '${group.replaceAll("'", "")}'`;
  const { runs } = await client.call("searchRuns", { body: { filter, limit: 1_000, orderBy: ["start_time ASC"] } });
  if (runs.length > 0) return runs.map(({ run }) => run.runId);
  const rule = "must be the group of a submission: `submit` prints it";
  throw new InvalidInputError("the runs cannot be compared", [{ path: "--group", value: group, rule }]);
}

function compareRequest(named: readonly string[], options: CompareOptions): CompareRequest {
  const { top, metric, goal, experiment, filter, baseline, show, axis, points, html } = options;
  const wantsCurves = html !== undefined;
  const common = { baseline, metrics: [...show], axis, points: wantsCurves ? points : 0 };
  if ((top === undefined) === (named.length === 0)) {
    const rule = "requires run ids or --top N --metric METRIC, but not both";
    throw new InvalidInputError("the runs cannot be compared", [{ path: "runs", rule }]);
  }
  if (top === undefined) return { runs: [...named], ...common };
  if (metric === undefined) {
    throw new InvalidInputError("the runs cannot be compared", [{ path: "--metric", rule: "is required with --top" }]);
  }
  return { top: { metric, count: top, experiments: [...experiment], filter, goal }, ...common };
}

function row(searched: SearchedRun, columns: readonly string[]): readonly string[] {
  const { run } = searched;
  const took = tookOf(run);
  const cells = columns.map((column) => cellOf(searched, column));
  return [
    run.runId,
    run.name === run.runId ? "" : run.name,
    displayedStatus(run),
    ...cells,
    timeText(run.startedAt),
    took,
  ];
}

function printComparison({ runs, baseline, metrics, params, differences }: Comparison): void {
  const titles = runs.map(({ runId }) => (runId === baseline ? `${runId} (baseline)` : runId));
  const rows = [
    ["name", ...runs.map(({ name }) => name)],
    ["status", ...runs.map(({ status }) => status)],
    ...metrics.map(({ metric, values, best }) => [
      metric,
      ...values.map((cell, at) => {
        if (cell === null) return "–";
        const delta = cell.delta === undefined ? "" : ` (${cell.delta > 0 ? "+" : ""}${formatNumber(cell.delta)})`;
        return `${formatNumber(Number(cell.last))}${delta}${best.includes(runs[at]!.runId) ? " *" : ""}`;
      }),
    ]),
    ...params.differing.map(({ name, values }) => [`params.${name}`, ...values.map((value) => value ?? "–")]),
    ...[...differences.code, ...differences.data, ...differences.environment].map(({ name, values }) => [
      name,
      ...values.map((value) => value ?? "–"),
    ]),
  ];
  printTable(["", ...titles], rows);
  if (metrics.some(({ best }) => best.length > 0)) process.stdout.write("* best\n");
}
