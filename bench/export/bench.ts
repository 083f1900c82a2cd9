import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJsonClient, type JsonClient } from "../records/clients";
import { runContent } from "../records/ways";
import { processTimeOf, residentMiB } from "../support/cpu";
import { describeMachine, machineLine } from "../support/machine";
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
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "10000" },
      points: { type: "string", default: "100" },
      "peer-runs": { type: "string", default: "500" },
    },
  });
  const [runs, points] = [Number(values.runs), Number(values.points)];
  const stack = startStack();
  const client = createJsonClient(stack.api, fillsAtOnce);
  try {
    await fill(client, runs, points);
    const rows: Row[] = [];
    for (const format of ["parquet", "csv"]) rows.push(exported(stack, format, runs, runs * points));
    const peer = mlflow(Number(values["peer-runs"]), points);
    if (typeof peer === "string") process.stdout.write(`no peer: ${peer}\n`);
    else rows.push(peer);
    process.stdout.write(`${machineLine(describeMachine())}\n\n`);
    process.stdout.write(
      markdownTable(
        ["export", "runs", "points", "s", "CPU s", "points/s", ""],
        rows.map((row) => [
          ...[row.what, String(row.runs), String(row.points), row.seconds.toFixed(1), row.cpuSeconds.toFixed(1)],
          ...[(row.points / row.seconds).toFixed(0), row.note],
        ]),
      ),
    );
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
  const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const script = join("bench", "export", "mlflow_export.py");
  const { status, stdout, stderr } = spawnSync(python, [script, String(runs), String(points)], { encoding: "utf8" });
  if (status !== 0) return `MLflow: ${stderr.trim().split("\n").at(-1)}`;
  const { version, seconds, cpuSeconds, found } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as {
    readonly version: string;
    readonly seconds: number;
    readonly cpuSeconds: number;
    readonly found: number;
  };
  return { what: `MLflow ${version}, client on SQLite`, runs, points: found, seconds, cpuSeconds, note: "" };
}
