import { mlflowVersion, startMlflow } from "../../test/peers/mlflow/server";
import { parseOptions } from "../support/arguments";
import { processTimeOf } from "../support/cpu";
import { startReport } from "../support/report";
import { stackAt, startStack } from "../support/stack";
import { markdownTable } from "../support/table";
import { createJsonClient } from "./clients";
import { mlflow, native, runContent, type Way } from "./ways";

interface Measured {
  readonly name: string;
  readonly runs: number;
  readonly callsPerRun: number;
  readonly runsPerSecond: number;
  /** Milliseconds of a run's calls in sequence. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of server processor time per run; unknown for a peer with several processes. */
  readonly serverMs?: number;
}

async function measure(
  title: string,
  way: Way,
  base: string,
  { runs, clients, pid }: { readonly runs: number; readonly clients: number; readonly pid?: number },
): Promise<Measured> {
  const client = createJsonClient(base, clients);
  try {
    const experiment = await way.prepare(client);
    const took: number[] = [];
    let next = 0;
    const before = pid === undefined ? undefined : processTimeOf(pid);
    const start = performance.now();
    const work = async (): Promise<void> => {
      for (let index = next++; index < runs; index = next++) {
        const from = performance.now();
        await way.create(client, experiment, runContent(index));
        took.push(performance.now() - from);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    const seconds = (performance.now() - start) / 1_000;
    const after = pid === undefined ? undefined : processTimeOf(pid);
    const found = await way.count(client, experiment);
    if (found !== runs) throw new Error(`${title}: ${runs} runs were made, and ${found} are there`);
    took.sort((a, b) => a - b);
    return {
      name: title,
      runs,
      callsPerRun: way.calls,
      runsPerSecond: runs / seconds,
      p50: took[Math.floor(runs * 0.5)] as number,
      p99: took[Math.floor(runs * 0.99)] as number,
      ...(before === undefined || after === undefined ? {} : { serverMs: (after - before) / runs }),
    };
  } finally {
    client.close();
  }
}

/** Measures how fast runs with ten parameters and five metrics are created, next to MLflow's server. */
export async function benchRecords(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    runs: 10_000,
    peerRuns: 500,
    clients: 16,
    ways: "native,mlflow,peer",
    /** The `stack.json` of a running stack, instead of starting one. */
    stack: "",
  });
  const { clients } = values;
  const ways = new Set(values.ways.split(","));
  const report = startReport(values.json);
  const results: Measured[] = [];
  if (ways.has("native") || ways.has("mlflow")) {
    const stack = values.stack === "" ? startStack() : undefined;
    try {
      const { api, pid } = stack ?? stackAt(values.stack);
      const given = { runs: values.runs, clients, pid };
      if (ways.has("native")) results.push(await measure("native API", native, api, given));
      if (ways.has("mlflow")) results.push(await measure("MLflow's protocol", mlflow, api, given));
    } finally {
      stack?.close();
    }
  }
  if (ways.has("peer") && mlflowVersion !== undefined) {
    const server = await startMlflow();
    try {
      const given = { runs: values.peerRuns, clients };
      results.push(await measure(`MLflow ${mlflowVersion}, SQLite`, mlflow, server.base, given));
    } finally {
      await server.stop();
    }
  }
  report({ clients, results }, `${clients} clients`, "", tableOf(results));
  if (ways.has("peer") && mlflowVersion === undefined) {
    process.stderr.write("MLflow is not installed here: RINGMASTER_PEERS_PYTHON names a Python that has it\n");
  }
}

function tableOf(results: readonly Measured[]): string {
  const ms = (value: number | undefined): string => (value === undefined ? "–" : `${value.toFixed(1)} ms`);
  const rows = results.map(({ name, runs, callsPerRun, runsPerSecond, p50, p99, serverMs }) => {
    return [name, String(runs), String(callsPerRun), runsPerSecond.toFixed(0), ms(p50), ms(p99), ms(serverMs)];
  });
  const columns = [
    "runs created through",
    "runs",
    "calls a run",
    "runs/s",
    "p50",
    "p99",
    "server's processor time a run",
  ];
  return markdownTable(columns, rows);
}
