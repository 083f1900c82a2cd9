import { Option } from "commander";
import type { ApiClient } from "../../client/api-client";
import type { Answer } from "../../client/operations";
import { byRank, testPrefix } from "../../core/evaluation/metric-goal";
import { formatDuration, timeText } from "../../core/quantities";
import { timesOf, workedUntil, workMs } from "../../core/runs/run";
import { type RunStatus, runStatuses } from "../../core/runs/run-states";
import type { Run } from "../../core/runs/shapes";
import { shellWord } from "../../core/shell-word";
import type { Command } from "../command";
import { printJson, printTable } from "../output";
import { metricCell } from "../run-columns";

type SearchedRun = Answer<"searchRuns">["runs"][number];

interface ListOptions {
  readonly experiment?: string;
  readonly status?: RunStatus;
  readonly metric: readonly string[];
  readonly limit: string;
  readonly nextToken?: string;
}

/** Returns the metrics that are shown if none is named: the primary ones, or the first of the test split. */
function defaultMetrics(runs: readonly Run[], records: ReadonlyMap<string, SearchedRun>): readonly string[] {
  const rank = byRank(runs);
  const leading = runs.flatMap(({ runId, primaryMetric }) => {
    const metrics = records.get(runId)?.metrics ?? [];
    const tested = metrics.map(({ metric }) => metric).filter((name) => name.startsWith(testPrefix));
    const named = primaryMetric !== undefined && tested.includes(primaryMetric);
    return named ? primaryMetric : (tested.sort(rank)[0] ?? []);
  });
  return [...new Set(leading)];
}

export function addListCommand(runs: Command): void {
  runs
    .command("list")
    .description("list training runs, newest first (`runs search` also finds logged runs)")
    .option("--experiment <name-or-id>", "only runs of this experiment")
    .addOption(new Option("--status <status>", "only runs with this status").choices(runStatuses))
    .repeatable("--metric <name>", "show the last value of this metric")
    .option("--limit <n>", "maximum number of runs, at most 200", "20")
    .option("--next-token <token>", "continue an earlier list")
    .handle(async ({ client, json }, { metric, ...query }: ListOptions) => {
      const page = await client.call("listTrainingRuns", { query });
      const isShown = metric.length > 0 || !json;
      const records = isShown ? await recordsOf(client, page.runs) : new Map<string, SearchedRun>();
      if (json) {
        printJson(
          metric.length === 0 ? page : { ...page, runs: page.runs.map((run) => withMetrics(run, records, metric)) },
        );
        return;
      }
      const isFiltered = query.experiment !== undefined || query.status !== undefined;
      for (const runId of page.unreadable ?? [])
        process.stdout.write(`${runId} cannot be read; delete it: ringmaster runs delete ${runId}\n`);
      if (page.runs.length === 0 && page.nextToken === undefined && query.nextToken === undefined) {
        const none = "no training runs; `ringmaster runs search` lists logged runs";
        process.stdout.write(`${isFiltered ? "no training run matches" : none}\n`);
        return;
      }
      printRuns(page.runs, records, metric, Date.now());
      if (page.nextToken !== undefined) process.stdout.write(`next page: ${nextPage(query, metric, page.nextToken)}\n`);
    });
}

function printRuns(
  runs: readonly Run[],
  records: ReadonlyMap<string, SearchedRun>,
  requested: readonly string[],
  now: number,
): void {
  const cell = (runId: string, name: string) => metricCell(records.get(runId)?.metrics ?? [], name);
  const columns = requested.length > 0 ? requested : defaultMetrics(runs, records);
  printTable(
    ["RUN", "NAME", "STATUS", "EXPERIMENT", "CREATED (UTC)", "TOOK", "PHASE", "DATASET", "TRIGGER", ...columns],
    runs.map((run) => [
      run.runId,
      nameOf(run, records),
      run.status,
      run.job.experiment,
      timeText(run.createdAt),
      formatDuration(workMs(timesOf(run), workedUntil(run, now))),
      run.phase ?? "–",
      `${run.dataset.name}@${run.dataset.version}`,
      run.cause?.trigger ?? "–",
      ...columns.map((name) => cell(run.runId, name) ?? "–"),
    ]),
  );
}

/** Returns names and last values by run id, with one request. A run's id contains no quote. */
async function recordsOf(client: ApiClient, runs: readonly Run[]): Promise<ReadonlyMap<string, SearchedRun>> {
  if (runs.length === 0) return new Map();
  const filter = `run_id IN (${runs.map(({ runId }) => `'${runId}'`).join(", ")})`;
  const answer = await client.call("searchRuns", {
    body: { experiments: [], filter, orderBy: [], limit: runs.length, view: "all" },
  });
  return new Map(answer.runs.map((one) => [one.run.runId, one]));
}

/** Returns the name of a run, which may have been renamed; empty if it is its id. */
function nameOf(run: Run, records: ReadonlyMap<string, SearchedRun>): string {
  const name = records.get(run.runId)?.run.name ?? run.job.name ?? run.runId;
  return name === run.runId ? "" : name;
}

function withMetrics(run: Run, records: ReadonlyMap<string, SearchedRun>, requested: readonly string[]) {
  const summaries = (records.get(run.runId)?.metrics ?? []).filter(({ metric }) => requested.includes(metric));
  return { ...run, metrics: Object.fromEntries(summaries.map(({ metric, last }) => [metric, Number(last)])) };
}

function nextPage(
  { experiment, status, limit }: Omit<ListOptions, "metric">,
  metric: readonly string[],
  token: string,
) {
  return [
    "ringmaster runs list",
    ...(experiment === undefined ? [] : [`--experiment ${shellWord(experiment)}`]),
    ...(status === undefined ? [] : [`--status ${status}`]),
    ...metric.map((name) => `--metric ${shellWord(name)}`),
    `--limit ${limit} --next-token ${token}`,
  ].join(" ");
}
