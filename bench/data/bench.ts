import { join } from "node:path";
import { parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { runNode, startStack } from "../support/stack";
import { markdownTable } from "../support/table";

interface RunRecord {
  readonly backend?: string;
  readonly totalSteps?: number;
  readonly metrics: readonly { readonly metric: string; readonly last: number | string }[];
}

interface Line {
  readonly workers: number;
  readonly steps: number;
  readonly backend: string;
  /** Each worker's share of the time from its first step to its last. */
  readonly dataWait: readonly number[];
  readonly communication: readonly number[];
  readonly samplesPerSecond: readonly number[];
}

function lineOf(workers: number, record: RunRecord): Line {
  const of = (name: string) =>
    record.metrics
      .filter(({ metric }) => metric.startsWith("system/worker-") && metric.endsWith(`/${name}`))
      .map(({ last }) => Number(last));
  return {
    workers,
    steps: record.totalSteps ?? 0,
    backend: record.backend ?? "?",
    dataWait: of("data-wait-share"),
    communication: of("communication-share"),
    samplesPerSecond: of("samples-per-second"),
  };
}

const percent = (shares: readonly number[]) =>
  shares.length === 0 ? "–" : shares.map((share) => `${(share * 100).toFixed(2)} %`).join(", ");

/**
 * Measures how long a step waits for its data: the 3,000,000 flights through the whole platform, as a user runs them. The
 * shares are the metrics that every run records.
 */
export async function benchData(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { workers: 2, runs: 3 });
  const { workers } = values;
  const report = startReport(values.json);
  const stack = startStack();
  try {
    const example = join(process.cwd(), "examples", "flights");
    const file = join(stack.directory, "flights.parquet");
    runNode(join(example, "prepare.js"), file);
    stack.ringmaster(["datasets", "push", "flights", "--file", file, "--schema", join(example, "schema.yaml")]);
    const lines: Line[] = [];
    for (let seed = 1; seed <= values.runs; seed += 1) {
      const settings = [`seed=${seed}`, `resources.workers=${workers}`].flatMap((set) => ["--set", set]);
      const record = stack.ringmaster(
        ["submit", join(example, "job.yaml"), "--wait", ...settings],
        [0, 3],
      ) as RunRecord;
      lines.push(lineOf(workers, record));
    }
    const worst = median(lines.map(({ dataWait }) => Math.max(...dataWait)));
    const cells = lines.map((line, index) => [
      ...[String(index + 1), line.backend, String(line.workers), String(line.steps), percent(line.dataWait)],
      ...[percent(line.communication), String(Math.round(line.samplesPerSecond[0] ?? 0))],
    ]);
    const columns = ["run", "backend", "workers", "steps", "data wait, by worker", "communication", "samples/s"];
    report(
      { lines, medianOfWorst: worst },
      "",
      markdownTable(columns, cells),
      "",
      `median over runs of the worst worker's data wait: ${percent([worst])} (target: at most 5 %)`,
    );
  } finally {
    stack.close();
  }
}
