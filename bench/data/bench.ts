import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { runNode, startStack } from "../support/stack";

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
  const { values } = parseArgs({
    args: [...args],
    options: {
      workers: { type: "string", default: "2" },
      runs: { type: "string", default: "3" },
      json: { type: "boolean" },
    },
  });
  const workers = Number(values.workers);
  const machine = describeMachine();
  const stack = startStack();
  try {
    const example = join(process.cwd(), "examples", "flights");
    const file = join(stack.directory, "flights.parquet");
    runNode(join(example, "prepare.js"), file);
    stack.ringmaster(["datasets", "push", "flights", "--file", file, "--schema", join(example, "schema.yaml")]);
    const lines: Line[] = [];
    for (let seed = 1; seed <= Number(values.runs); seed += 1) {
      const settings = [`seed=${seed}`, `resources.workers=${workers}`].flatMap((set) => ["--set", set]);
      const record = stack.ringmaster(
        ["submit", join(example, "job.yaml"), "--wait", ...settings],
        [0, 3],
      ) as RunRecord;
      lines.push(lineOf(workers, record));
    }
    report(lines, Boolean(values.json), machine);
  } finally {
    stack.close();
  }
}

function report(lines: readonly Line[], json: boolean, machine: ReturnType<typeof describeMachine>): void {
  const worst = lines.map(({ dataWait }) => Math.max(...dataWait));
  if (json) {
    process.stdout.write(`${JSON.stringify({ machine, lines, medianOfWorst: median(worst) }, null, 2)}\n`);
    return;
  }
  process.stdout.write(
    `${machineLine(machine)}\n\n| run | backend | workers | steps | data wait, by worker | communication | samples/s |\n`,
  );
  process.stdout.write("| --: | --- | --: | --: | --: | --: | --: |\n");
  lines.forEach(({ backend, workers, steps, dataWait, communication, samplesPerSecond }, index) => {
    const pace = Math.round(samplesPerSecond[0] ?? 0);
    process.stdout.write(
      `| ${index + 1} | ${backend} | ${workers} | ${steps} | ${percent(dataWait)} | ${percent(communication)} | ${pace} |\n`,
    );
  });
  process.stdout.write(
    `\nmedian over runs of the worst worker's data wait: ${percent([median(worst)])} (target: at most 5 %)\n`,
  );
}
