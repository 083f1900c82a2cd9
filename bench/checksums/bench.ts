import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { measureAll } from "../cloud/bench";
import { bundleOf, startVariant } from "../cloud/variants";
import { runLoad } from "../ingest/load";
import { nativeTarget } from "../ingest/targets";
import { parseOptions } from "../support/arguments";
import { cpuMsOf, wholeCpuMsOf } from "../support/cpu";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { startStack } from "../support/stack";
import { copyWithoutChecksums } from "./copy";

/** Processor and wall time of one measurement, in milliseconds. */
interface Time {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Measurements in alternation, the same number of each. */
interface Row {
  readonly name: string;
  readonly without: readonly Time[];
  readonly with: readonly Time[];
}

/**
 * Measures the cost of the checksums of stored data: requests to the embedded services, metric ingest and the quickstart,
 * each in pairs with a copy of the product without them.
 */
export async function benchChecksums(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    /** Rounds of the services' requests and of ingest. */
    rounds: 7,
    /** Number of pairs of quickstarts. */
    quickstarts: 3,
    /** Only the work whose name contains this text. */
    only: "",
    /** The services do not wait for the disk, so that checksums are a larger share. */
    unsynced: false,
  });
  const { rounds, only } = values;
  const report = startReport(values.json);
  const copy = copyWithoutChecksums();
  try {
    const sync = values.unsynced ? "unsynced" : "synced";
    const pairs = [
      { name: "metric ingest, 20 clients, 500 metrics a call", count: rounds, measure: ingest },
      { name: "quickstart", count: values.quickstarts, measure: quickstart },
    ];
    const rows = [...(await measureServices(copy.directory, rounds, sync, only))];
    for (const { name, count, measure } of pairs) {
      if (name.includes(only)) rows.push(await inPairs(name, copy.directory, count, measure));
    }
    report({ rows }, "", tableOf(rows));
  } finally {
    copy.remove();
  }
}

async function measureServices(
  copy: string,
  rounds: number,
  sync: "synced" | "unsynced",
  only: string,
): Promise<readonly Row[]> {
  const bundle = join(__dirname, "cloud-services.js");
  const variants = [await startVariant("without", await bundleOf(copy), sync)];
  try {
    variants.push(await startVariant("with", bundle, sync));
    return (await measureAll(variants, rounds, only)).map(({ name, rounds: [without = [], sealed = []] }) => {
      const times = (of: typeof without) => of.map(({ cpuMs, perSecond }) => ({ cpuMs, wallMs: 1e6 / perSecond }));
      return { name: `1,000 × ${name}`, without: times(without), with: times(sealed) };
    });
  } finally {
    for (const variant of variants) variant.close();
  }
}

/** Measures both in alternation, after one measurement of each that does not count. */
async function inPairs(
  name: string,
  copy: string,
  count: number,
  measure: (root: string) => Promise<Time>,
): Promise<Row> {
  const row = { name, without: [] as Time[], with: [] as Time[] };
  if (count === 0) return row;
  for (let round = 0; round <= count; round += 1) {
    const turns = [
      { root: copy, times: row.without },
      { root: process.cwd(), times: row.with },
    ];
    for (const { root, times } of round % 2 === 0 ? turns : turns.reverse()) {
      const time = await measure(root);
      if (round > 0) times.push(time);
      const state = round === 0 ? "warmed up" : `pair ${round} of ${count}`;
      process.stderr.write(`${name}, ${state}: ${(time.cpuMs / 1e3).toFixed(2)} s of processor time\n`);
    }
  }
  return row;
}

/** Measures ingest. Times are of 1,000 calls. */
async function ingest(root: string): Promise<Time> {
  const stack = startStack(root);
  try {
    const options = { clients: 20, metrics: 500, seconds: 10, oneRun: false, checkEvery: 0 };
    const { cpuMs, perSecond } = await runLoad(stack.api, nativeTarget, options, () => cpuMsOf(stack.pid));
    return { cpuMs: 1_000 * cpuMs, wallMs: 1e6 / perSecond };
  } finally {
    stack.close();
  }
}

async function quickstart(root: string): Promise<Time> {
  const stack = startStack(root);
  try {
    const before = wholeCpuMsOf(stack.pid);
    // The shell's `time` counts all processes that the quickstart has waited for; the stack is counted separately.
    const { status, stderr } = spawnSync("bash", ["-c", "TIMEFORMAT='%R %U %S'; time node bin/quickstart.js"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, RINGMASTER_DATA: join(stack.directory, "data") },
    });
    if (status !== 0) throw new Error(`the quickstart ended with code ${status}: ${stderr}`);
    const [wall = 0, user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
    return { cpuMs: 1_000 * (user + system) + wholeCpuMsOf(stack.pid) - before, wallMs: 1_000 * wall };
  } finally {
    stack.close();
  }
}

/** Formats medians, and the medians of the ratios of each pair. */
function tableOf(rows: readonly Row[]): string {
  const cells = (row: Row, member: keyof Time) => {
    const without = row.without.map((time) => time[member]);
    const sealed = row.with.map((time) => time[member]);
    const ratio = median(sealed.map((ms, pair) => ms / without[pair]!));
    return `${median(without).toFixed(0)} | ${median(sealed).toFixed(0)} | ${ratio.toFixed(3)}`;
  };
  return [
    "| work | processor ms: without | with checksums | ratio | wall ms: without | with checksums | ratio |",
    "| --- | --: | --: | --: | --: | --: | --: |",
    ...rows
      .filter((row) => row.with.length > 0)
      .map((row) => `| ${row.name} | ${cells(row, "cpuMs")} | ${cells(row, "wallMs")} |`),
  ].join("\n");
}
