import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LineProcess } from "../support/line-process";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { type Operation, prepare } from "./work";

interface Measurement {
  /** CPU time of the services for 1,000 requests, which other processes of the machine hardly change. */
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Throughput and latency of the embedded cloud, through stock AWS clients; with `--unsynced`, without waiting for the disk. */
export async function benchCloud(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean", default: false },
      unsynced: { type: "boolean", default: false },
      rounds: { type: "string", default: "5" },
    },
  });
  const data = mkdtempSync(join(tmpdir(), "ringmaster-cloud-"));
  const services = new LineProcess(process.execPath, [
    join(__dirname, "cloud-services.js"),
    data,
    values.unsynced ? "unsynced" : "synced",
  ]);
  try {
    const { ports } = await services.receive<{ readonly ports: readonly number[] }>();
    const operations = await prepare(ports);
    const cpuTime = async (): Promise<number> => {
      services.send({});
      return (await services.receive<{ readonly cpuMs: number }>()).cpuMs;
    };
    const rounds = Math.max(1, Number(values.rounds));
    const results = new Map(operations.map(({ name }) => [name, [] as Measurement[]]));
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      for (const operation of operations) {
        const measured = await measure(operation, cpuTime);
        if (round > 0) results.get(operation.name)?.push(measured);
      }
    }
    const rows = [...results].map(([name, all]) => ({ name, ...medians(all) }));
    const machine = describeMachine();
    if (values.json) process.stdout.write(`${JSON.stringify({ machine, unsynced: values.unsynced, rows })}\n`);
    else process.stdout.write(`${machineLine(machine)}\n\n${tableOf(rows)}\n`);
  } finally {
    services.kill();
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure({ count, clients, run }: Operation, cpuTime: () => Promise<number>): Promise<Measurement> {
  const times: number[] = [];
  let next = 0;
  const cpuBefore = await cpuTime();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < count) {
        const at = performance.now();
        await run(next++);
        times.push(performance.now() - at);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const cpuMs = (1_000 * ((await cpuTime()) - cpuBefore)) / count;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return { cpuMs, perSecond: count / seconds, p50: at(0.5), p99: at(0.99) };
}

function medians(all: readonly Measurement[]): Measurement {
  const of = (member: keyof Measurement) => median(all.map((one) => one[member]));
  return { cpuMs: of("cpuMs"), perSecond: of("perSecond"), p50: of("p50"), p99: of("p99") };
}

function tableOf(rows: readonly (Measurement & { readonly name: string })[]): string {
  const lines = rows.map(
    ({ name, perSecond, p50, p99, cpuMs }) =>
      `| ${name} | ${perSecond.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${cpuMs.toFixed(0)} |`,
  );
  return [
    "| operation | per second | p50 ms | p99 ms | CPU ms / 1,000 |",
    "| -- | --: | --: | --: | --: |",
    ...lines,
  ].join("\n");
}
