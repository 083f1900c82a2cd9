import { join } from "node:path";
import { parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { bundleOf, startVariant, type Variant } from "./variants";
import type { Operation } from "./work";

interface Measurement {
  /** CPU time of the services for 1,000 requests. Other processes of the machine hardly affect it. */
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** The measurements of an operation, by variant, then by round. */
interface Row {
  readonly name: string;
  readonly rounds: readonly (readonly Measurement[])[];
}

/**
 * Measures throughput, latency and CPU time of the embedded cloud through stock AWS clients: unchanged, without waiting for
 * the disk, and with the services of another checkout. All run in parallel and take turns.
 */
export async function benchCloud(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    /** Folder of a checkout of another commit. */
    against: "",
    rounds: 5,
    /** Operations whose name contains this text. */
    only: "",
  });
  const report = startReport(values.json);
  const bundle = join(__dirname, "cloud-services.js");
  const variants: Variant[] = [];
  try {
    if (values.against) variants.push(await startVariant("before", await bundleOf(values.against), "synced"));
    variants.push(await startVariant("unsynced", bundle, "unsynced"));
    variants.push(await startVariant("synced", bundle, "synced"));
    const rows = await measureAll(variants, Math.max(1, values.rounds), values.only);
    const names = variants.map(({ name }) => name);
    report({ variants: names, rows }, "", tableOf(names, rows));
  } finally {
    for (const variant of variants) variant.close();
  }
}

/** @param only operations whose name contains this text */
export async function measureAll(variants: readonly Variant[], rounds: number, only: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [index, { name }] of (variants[0]?.operations ?? []).entries()) {
    if (!name.includes(only)) continue;
    const measured = variants.map((): Measurement[] => []);
    // The first round warms up. Each round begins with another variant.
    for (let round = 0; round <= rounds; round++) {
      for (let turn = 0; turn < variants.length; turn++) {
        const which = (round + turn) % variants.length;
        const { operations, cpuTime } = variants[which]!;
        const measurement = await measure(operations[index]!, cpuTime);
        if (round > 0) measured[which]!.push(measurement);
      }
    }
    rows.push({ name, rounds: measured });
  }
  return rows;
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

/** Formats medians of the rounds; after each variant but the first, the median of the ratios to the first by round. */
function tableOf(variants: readonly string[], rows: readonly Row[]): string {
  const [first, ...others] = variants;
  const columns = [first, ...others.flatMap((name) => [name, `÷ ${first}`])];
  const cells = (rounds: Row["rounds"], member: keyof Measurement) => {
    const [base = [], ...rest] = rounds.map((round) => round.map((one) => one[member]));
    return [
      median(base).toFixed(0),
      ...rest.flatMap((values) => [
        median(values).toFixed(0),
        median(values.map((value, round) => value / base[round]!)).toFixed(2),
      ]),
    ];
  };
  const heads = [`requests/s: ${columns.join(" | ")}`, `CPU ms for 1,000: ${columns.join(" | ")}`];
  return [
    `| operation | ${heads.join(" | ")} |`,
    `| --- |${" --: |".repeat(2 * columns.length)}`,
    ...rows.map(({ name, rounds }) =>
      ["", name, ...cells(rounds, "perSecond"), ...cells(rounds, "cpuMs"), ""].join(" | ").trim(),
    ),
  ].join("\n");
}
