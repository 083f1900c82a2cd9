import { statSync } from "node:fs";
import { join } from "node:path";
import { createJsonClient, type JsonClient } from "../records/clients";
import { runContent } from "../records/ways";
import { parseOptions } from "../support/arguments";
import { processTimeOf, residentMiB } from "../support/cpu";
import { runPeerScript } from "../support/peer-python";
import { startReport } from "../support/report";
import { type BenchStack, startStack } from "../support/stack";
import { markdownTable } from "../support/table";

const metricNames = ["train/loss", "train/accuracy", "validation/loss", "validation/accuracy"];
const fillsAtOnce = 16;

interface Row {
  readonly what: string;
  readonly runs: number;
  readonly points: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly note: string;
}

/**
 * Measures the export of many runs with their points, as the command line writes it. The peer is MLflow's client on a
 * SQLite store: `search_runs`, then a call for the history of each metric of each run, over fewer runs.
 */
export async function benchExport(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { runs: 10_000, points: 100, peerRuns: 500 });
  const { runs, points } = values;
  const report = startReport(values.json);
  const stack = startStack();
  const client = createJsonClient(stack.api, fillsAtOnce);
  try {
    await fill(client, runs, points);
    const rows: Row[] = [];
    for (const format of ["parquet", "csv"]) rows.push(exported(stack, format, runs, runs * points));
    const peer = mlflow(values.peerRuns, points);
    if (typeof peer !== "string") rows.push(peer);
    const cells = rows.map((row) => [
      ...[row.what, String(row.runs), String(row.points), row.seconds.toFixed(1), row.cpuSeconds.toFixed(1)],
      ...[(row.points / row.seconds).toFixed(0), row.note],
    ]);
    const columns = ["export", "runs", "points", "s", "CPU s", "points/s", ""];
    report({ rows }, typeof peer === "string" ? `no peer: ${peer}` : "", "", markdownTable(columns, cells));
  } finally {
    client.close();
    stack.close();
  }
}

async function fill(client: JsonClient, runs: number, points: number): Promise<void> {
  const answer = await client.send("POST", "/api/v1/experiments", { name: "bench" });
  const { experimentId } = (answer as { experiment: { experimentId: string } }).experiment;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < runs; index = next++) {
      const { name, params } = runContent(index);
      const made = await client.send("POST", "/api/v1/runs", { experimentId, name, params });
      const { runId } = (made as { run: { runId: string } }).run;
      const steps = Array.from({ length: points / metricNames.length }, (_, step) => step);
      const series = metricNames.map((metric, number) => ({
        metric,
        steps,
        values: steps.map((step) => (index + number) / (step + 1)),
        times: steps.map((step) => 1_700_000_000_000 + step),
      }));
      await client.send("POST", `/api/v1/runs/${runId}/metrics`, { series });
      if (index % 500 === 0) process.stderr.write(`\r${index} runs `);
    }
  };
  await Promise.all(Array.from({ length: fillsAtOnce }, work));
}

function exported(stack: BenchStack, format: string, runs: number, points: number): Row {
  const out = join(stack.directory, format);
  const before = residentMiB(stack.pid);
  const [began, cpu] = [performance.now(), processTimeOf(stack.pid) ?? 0];
  stack.ringmaster(["experiments", "export", "bench", "--format", format, "--out", out]);
  const seconds = (performance.now() - began) / 1_000;
  const cpuSeconds = ((processTimeOf(stack.pid) ?? 0) - cpu) / 1_000;
  const { size } = statSync(join(out, `points.${format}`));
  const memory = `stack ${before.toFixed(0)} MiB before, ${residentMiB(stack.pid).toFixed(0)} after`;
  return {
    ...{ what: `Ringmaster, ${format}`, runs, points, seconds, cpuSeconds },
    note: `points: ${(size / 2 ** 20).toFixed(1)} MiB; ${memory}`,
  };
}

function mlflow(runs: number, points: number): Row | string {
  const found = runPeerScript<{
    readonly version: string;
    readonly seconds: number;
    readonly cpuSeconds: number;
    readonly found: number;
  }>("export/mlflow_export.py", [runs, points]);
  if (typeof found === "string") return found;
  const { version, seconds, cpuSeconds } = found;
  return { what: `MLflow ${version}, client on SQLite`, runs, points: found.found, seconds, cpuSeconds, note: "" };
}
