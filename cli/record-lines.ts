import { decodedSummary } from "../client/api-client";
import type { Answer } from "../client/operations";
import { formatDuration } from "../core/quantities";
import type { Job } from "../core/runs/job";
import { displayedStatus, workMs } from "../core/runs/run";
import { paramsOfJob } from "../core/tracking/records/training-record";
import { printMetrics } from "./metric-table";
import { printTable, shownText } from "./output";

type DescribedRun = Answer<"getRun">;

type Line = readonly [name: string, value: string | undefined];

/** Returns the parts of a record that a training run's own state lacks. */
export function recordLines({ run, children }: DescribedRun, experiment?: string): readonly Line[] {
  const { code, environment, tags, params, job } = run;
  const jobParams = job === undefined ? {} : paramsOfJob(job as Job);
  const further = Object.entries(params).filter(([key]) => !Object.hasOwn(jobParams, key));
  const commit = code.commit && `${code.commit.slice(0, 12)}${code.dirty ? ", with uncommitted changes" : ""}`;
  const { hardware } = environment;
  return [
    ["name", run.name === run.runId ? undefined : run.name],
    ["experiment", experiment === undefined ? run.experimentId : `${experiment} (${run.experimentId})`],
    ["unreadable", run.unreadable],
    ["created by", run.createdBy],
    ["deleted", run.deletedAt],
    ["parent", run.parentRunId],
    ["children", children.length === 0 ? undefined : children.join(" ")],
    ["tags", pairs(Object.entries(tags))],
    ["params", job === undefined ? undefined : pairs(further)],
    ["code", [code.repository, code.branch, commit].filter((part) => part !== undefined).join(" ") || undefined],
    ["diff", code.diffSha256],
    ["lockfile", environment.lockfileSha256],
    ["hardware", hardware && [...hardware.instanceTypes, hardware.cpu, hardware.gpu].filter(Boolean).join(", ")],
    ["notes", run.notes === "" ? undefined : run.notes],
  ];
}

export function showRecord(view: DescribedRun, experiment?: string): void {
  const { run, metrics } = view;
  const took = run.endedAt === undefined ? "" : `, took ${formatDuration(run.endedAt - run.startedAt)}`;
  const lines: readonly Line[] = [
    ["run", run.runId],
    ["status", displayedStatus(run)],
    ["started", `${new Date(run.startedAt).toISOString()}${took}`],
    ...run.datasets.map((one): Line => ["dataset", `${one.name} ${one.digest}`]),
    ["seed", run.seed === undefined ? undefined : String(run.seed)],
    ...recordLines(view, experiment),
  ];
  printLines(lines);
  const params = Object.entries(run.params).sort(([a], [b]) => (a < b ? -1 : 1));
  if (params.length > 0) {
    process.stdout.write("\n");
    printTable(["PARAM", "VALUE"], params);
  }
  if (metrics.length === 0) return;
  process.stdout.write("\n");
  printMetrics(metrics.map(decodedSummary));
}

/** `–` for a paused run, and for an open one that is logged from elsewhere, because its client may have died. */
export function tookOf(run: Pick<DescribedRun["run"], "source" | "status" | "startedAt" | "endedAt">): string {
  if (run.endedAt === undefined && (run.source === "logged" || run.status === "paused")) return "–";
  return formatDuration(workMs(run, Date.now()));
}

export function printLines(lines: readonly Line[]): void {
  for (const [name, value] of lines) {
    if (value !== undefined) process.stdout.write(`${name.padEnd(13)} ${shownText(value)}\n`);
  }
}

function pairs(entries: readonly (readonly [string, string])[]): string | undefined {
  if (entries.length === 0) return undefined;
  return entries.map(([key, value]) => `${key}=${value}`).join(" ");
}
