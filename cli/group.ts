import type { ApiClient } from "../client/api-client";
import { digestOf } from "../core/digest";
import { mapLimited } from "../core/each-limited";
import { byRank, testPrefix } from "../core/evaluation/metric-goal";
import { outcomeText } from "../core/runs/run";
import { isOpen } from "../core/runs/run-states";
import type { Run } from "../core/runs/shapes";
import { exitCodes, formatNumber, printJson, printTable } from "./output";
import type { PreparedJob } from "./submission";
import { exitCodeOf } from "./watch";

export const groupTag = "ringmaster.group";

const submissionsAtOnce = 4;
const pollMs = 1_000;
/** Number of metrics in the table of a group. */
const maxMetrics = 4;

/** A run of a group, with the settings in which it differs from the others. */
export interface GroupMember {
  readonly settings: readonly string[];
  readonly run: Run;
}

/** Submits jobs as one group, once all of them are valid. `key` is the submission's idempotency key. */
export async function submitGroup(
  client: ApiClient,
  prepared: readonly { readonly settings: readonly string[]; readonly job: PreparedJob }[],
  options: { readonly noCache: boolean; readonly pauseAt?: number },
  key: string,
): Promise<{ readonly group: string; readonly members: readonly GroupMember[] }> {
  const group = `group-${digestOf(key).slice(0, 12)}`;
  const members = await mapLimited([...prepared.entries()], submissionsAtOnce, async ([i, { settings, job }]) => {
    const tagged = { ...job.job, tags: { ...job.job.tags, [groupTag]: group } };
    const run = await client.submitRun({ ...job, ...options, job: tagged }, `${key}-${i}`);
    return { settings, run };
  });
  return { group, members };
}

/** Prints a line for each run, and the command that compares them. */
export function printGroup(group: string, members: readonly GroupMember[]): void {
  for (const { settings, run } of members)
    process.stdout.write(`${run.runId} is ${run.status}: ${settings.join(", ")}\n`);
  process.stdout.write(`compare them with: ringmaster runs compare --group ${group}\n`);
}

/** Waits for all runs, prints a line at each end and a table of all. Returns the exit code of the worst. */
export async function watchGroup(
  client: ApiClient,
  group: string,
  members: readonly GroupMember[],
  json: boolean,
): Promise<number> {
  const ended = new Map<string, Run>();
  while (ended.size < members.length) {
    for (const { run, settings } of members) {
      if (ended.has(run.runId)) continue;
      const { run: current } = await client.run(run.runId);
      if (isOpen(current.status)) continue;
      ended.set(run.runId, current);
      if (!json) process.stdout.write(`  ${run.runId} ${endText(current)}: ${settings.join(", ")}\n`);
    }
    if (ended.size < members.length) await new Promise((wait) => setTimeout(wait, pollMs));
  }
  const results = await mapLimited(members, submissionsAtOnce, async ({ run, settings }) => ({
    ...{ runId: run.runId, settings, status: (ended.get(run.runId) as Run).status },
    metrics: Object.fromEntries(
      (await client.metrics(run.runId))
        .filter(({ metric }) => metric.startsWith(testPrefix))
        .map(({ metric, last }) => [metric, last]),
    ),
  }));
  if (json) printJson({ group, runs: results });
  else {
    const names = [...new Set(results.flatMap(({ metrics }) => Object.keys(metrics)))]
      .sort(byRank(members.map(({ run }) => run)))
      .slice(0, maxMetrics);
    printTable(
      ["RUN", "SETTINGS", "STATUS", ...names],
      results.map(({ runId, settings, status, metrics }) => [
        ...[runId, settings.join(", "), status],
        ...names.map((name) => (metrics[name] === undefined ? "–" : formatNumber(metrics[name]))),
      ]),
    );
    process.stdout.write(`compare them with: ringmaster runs compare --group ${group}\n`);
  }
  const codes = [...ended.values()].map(exitCodeOf);
  return codes.includes(exitCodes.failed) ? exitCodes.failed : Math.max(...codes);
}

function endText(run: Run): string {
  if (run.failure) return `${run.status}: ${run.failure.code}: ${run.failure.message}`;
  return run.outcome ? `${run.status}; ${outcomeText(run.outcome)}` : run.status;
}
