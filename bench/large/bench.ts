import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseOptions } from "../support/arguments";
import { stopWhenEnded } from "../support/ending";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { createLimited, type Limited } from "./limited";
import { measureShards } from "./shards";
import { writeFiles, writeSource } from "./source";

interface RunRecord {
  readonly status: string;
  readonly run: { readonly createdAt: string };
  readonly totalSteps?: number;
  readonly steps?: readonly { readonly step: string; readonly startedAt: string; readonly finishedAt: string }[];
}

/**
 * Pushes, validates and trains on a dataset that is larger than memory: the command line that pushes, and the stack with
 * its functions and trainers, each in a control group with a memory limit. A process that needs more is killed, and the
 * bench fails.
 */
export async function benchLarge(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    gigabytes: 1,
    memoryMb: 4096,
    shards: false,
  });
  const { memoryMb: limitMb } = values;
  const print = startReport(values.json);
  if (values.shards) return measureShards(print);
  const folder = mkdtempSync(join(tmpdir(), "ringmaster-large-"));
  const groups = ["push", "stack", "submit"].map((name) => createLimited(name, limitMb));
  const [push, stack, submit] = groups;
  if (push === undefined || stack === undefined || submit === undefined) {
    throw new Error("this process may not create control groups with a memory limit: run it as root");
  }
  const cli = (...command: readonly string[]): readonly string[] => [
    ...[process.execPath, join(process.cwd(), "bin", "ringmaster.js"), "--data", join(folder, "data")],
    ...command,
    "--json",
  ];
  let maxDisk = 0;
  const before = usedBytes(folder);
  const disk = setInterval(() => {
    maxDisk = Math.max(maxDisk, usedBytes(folder) - before);
  }, 1_000);
  const stop = (): void => {
    clearInterval(disk);
    for (const group of groups) group?.end();
    rmSync(folder, { recursive: true, force: true });
  };
  const closed = stopWhenEnded(stop);
  const seconds: [string, number][] = [];
  const timed = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    process.stderr.write(`${new Date().toISOString()} ${what}\n`);
    const result = await work();
    seconds.push([what, (performance.now() - began) / 1_000]);
    return result;
  };
  try {
    const source = join(folder, "source");
    const files = writeFiles(folder);
    const made = await timed("write the source", async () => writeSource(source, values.gigabytes * 1e9));
    await timed("start", () => stack.run(cli("up", "--detach", "--port", "0", "--api-port", "0")));
    try {
      const paths = ["--file", source, "--schema", files.schema];
      await timed("push", () => push.run(cli("datasets", "push", "large", ...paths)));
      rmSync(source, { recursive: true });
      await submit.run(cli("datasets", "contract", "set", "large", "--file", files.contract));
      const printed = await timed("run", () => submit.run(cli("submit", files.job, "--wait"), [0, 3]));
      const record = JSON.parse(printed) as RunRecord;
      // A step of several rounds begins again after each.
      let since = Date.parse(record.run.createdAt);
      for (const { step, finishedAt } of record.steps ?? []) {
        seconds.push([`  ${step}`, (Date.parse(finishedAt) - since) / 1_000]);
        since = Date.parse(finishedAt);
      }
      report({ made, limitMb, seconds, push, stack, maxDisk, record, print });
    } finally {
      await submit.run(cli("down"));
    }
  } finally {
    closed();
    stop();
    for (const group of groups) group?.close();
  }
}

function usedBytes(folder: string): number {
  const { blocks, bfree, bsize } = statfsSync(folder);
  return (blocks - bfree) * bsize;
}

function report(found: {
  readonly made: { readonly rows: number; readonly bytes: number };
  readonly limitMb: number;
  readonly seconds: readonly (readonly [string, number])[];
  readonly push: Limited;
  readonly stack: Limited;
  readonly maxDisk: number;
  readonly record: RunRecord;
  readonly print: ReturnType<typeof startReport>;
}): void {
  const { made, limitMb, seconds, push, stack, maxDisk, record, print } = found;
  const trees = [["push", push.peaks] as const, ["stack, functions and trainers", stack.peaks] as const];
  const peaks = trees.map(([tree, { processes, ...rest }]) => ({
    ...{ tree, ...rest },
    processes: Object.fromEntries(processes),
  }));
  const processes = trees.flatMap(([tree, peaks]) =>
    [...peaks.processes].map(([kind, { peakMb, cpuSeconds }]) => [tree, kind, String(peakMb), cpuSeconds.toFixed(1)]),
  );
  print(
    { made, limitMb, seconds, peaks, maxDisk, record },
    "",
    `${(made.bytes / 1e9).toFixed(2)} GB of CSV, ${made.rows} rows; limit ${limitMb} MiB for each tree; at most ${(maxDisk / 1e9).toFixed(1)} GB of disk`,
    `run: ${record.status}, ${record.totalSteps ?? "?"} steps`,
    "",
    markdownTable(
      ["tree of processes", "peak without cached files, MiB", "as the limit counts, MiB"],
      trees.map(([tree, { own, counted }]) => [tree, String(own), String(counted)]),
    ),
    "",
    markdownTable(["tree", "process", "largest resident set, MiB", "processor seconds"], processes),
    "",
    markdownTable(
      ["step", "seconds"],
      seconds.map(([step, s]) => [step, s.toFixed(1)]),
    ),
  );
}
