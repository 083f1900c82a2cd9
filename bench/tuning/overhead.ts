import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StudyState } from "../../core/tuning/ports";
import { toyCsv, toySchema } from "../../test/support/toy";
import { parseOptions } from "../support/arguments";
import { residentMiB, wholeCpuMsOf } from "../support/cpu";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { type BenchStack, startStack } from "../support/stack";
import { markdownTable } from "../support/table";

/** Runs whose trainers' own processor time is read. */
const sampled = 20;

/**
 * Measures what the platform adds to the training of many short trials: processor time of all of its processes and of the
 * trainers, without that of the training loops. Also the memory of the processes, early, halfway and at the end.
 */
export async function benchOverhead(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { trials: 1000, parallel: 2, epochs: 5 });
  const { trials } = values;
  const report = startReport(values.json);
  const stack = startStack();
  const write = (path: string, text: string): string => {
    writeFileSync(join(stack.directory, path), text);
    return join(stack.directory, path);
  };
  const [data, schema] = [write("toy.csv", toyCsv(50_000)), write("schema.yaml", toySchema)];
  stack.ringmaster(["datasets", "push", "toy", "--file", data, "--schema", schema]);
  write("job.yaml", jobOf(values.epochs));
  const study = write("study.yaml", studyOf(trials, values.parallel));
  const [began, cpu] = [performance.now(), wholeCpuMsOf(stack.pid)];
  stack.ringmaster(["study", "create", study]);
  const marks = [...new Set([Math.ceil(trials / 10), Math.ceil(trials / 2), trials])];
  const memory: ReadonlyMap<string, number>[] = [];
  for (const mark of marks) memory.push(await finished(stack, mark));
  const cpuSeconds = (wholeCpuMsOf(stack.pid) - cpu) / 1_000;
  const seconds = (performance.now() - began) / 1_000;
  const state = await stateOf(stack);
  const every = Math.max(1, Math.floor(trials / sampled));
  const runs = state.trials.filter((_, i) => i % every === 0);
  const loops = await Promise.all(runs.map(({ runId }) => trainingCpuOf(stack, runId as string)));
  const training = median(loops);
  const completed = state.trials.filter((trial) => trial.state === "completed").length;
  stack.close();

  const perTrial = cpuSeconds / trials;
  const times = [
    ...[String(trials), String(completed), seconds.toFixed(0), cpuSeconds.toFixed(0), perTrial.toFixed(2)],
    ...[training.toFixed(2), (perTrial - training).toFixed(2)],
  ];
  const kinds = ["stack", "largest function", "largest trainer"];
  report(
    { trials, completed, seconds, cpuSeconds, training, memory: memory.map((at) => Object.fromEntries(at)) },
    "",
    markdownTable(
      ["trials", "completed", "wall s", "CPU s", "CPU s per trial", "of these training", "overhead"],
      [times],
    ),
    "",
    markdownTable(
      ["memory, MiB", ...marks.map((mark) => `after ${mark} trials`)],
      kinds.map((kind) => [kind, ...memory.map((at) => at.get(kind)?.toFixed(0) ?? "–")]),
    ),
  );
}

function jobOf(epochs: number): string {
  return `experiment: toy
dataset: toy
model: { type: mlp, hidden: [32] }
hyperparameters: { batchSize: 64, epochs: ${epochs} }
resources: { backend: wasm }
seed: 3
`;
}

function studyOf(trials: number, parallel: number): string {
  return `name: toy
job: job.yaml
objective: { metric: validation/loss, direction: minimize }
space:
  hyperparameters.learningRate: { type: float, low: 0.0001, high: 0.3, log: true }
sampler: { type: random, seed: 1 }
parallel: ${parallel}
stop: { trials: ${trials} }
`;
}

/** Waits until a number of trials has ended. @returns the resident memory of the processes then, in MiB */
async function finished(stack: BenchStack, count: number): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const { trials } = await stateOf(stack);
    const memory = processMemory(stack);
    const ended = trials.filter(({ state }) => state === "completed" || state === "failed").length;
    process.stderr.write(`\r${ended} trials `);
    if (ended >= count) return memory;
    await new Promise((wait) => setTimeout(wait, 5_000));
  }
}

async function stateOf({ api }: BenchStack): Promise<StudyState> {
  return (await (await fetch(`${api}/api/v1/hpo/studies/toy`)).json()) as StudyState;
}

async function trainingCpuOf({ api }: BenchStack, runId: string): Promise<number> {
  for (let token: string | undefined = ""; token !== undefined; ) {
    const url = `${api}/api/v1/training-runs/${runId}/logs${token && `?nextToken=${encodeURIComponent(token)}`}`;
    const page = (await (await fetch(url)).json()) as {
      readonly lines: readonly { readonly message: string }[];
      readonly nextToken?: string;
    };
    const line = page.lines.find(({ message }) => message.includes('"cpuSeconds"'));
    if (line) return (JSON.parse(line.message) as { readonly cpuSeconds: number }).cpuSeconds;
    token = page.nextToken;
  }
  return Number.NaN;
}

function processMemory({ pid, endpoint }: BenchStack): ReadonlyMap<string, number> {
  const memory = new Map([["stack", residentMiB(pid)]]);
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (!readFileSync(`/proc/${entry}/environ`, "utf8").includes(`AWS_ENDPOINT_URL=${endpoint}`)) continue;
      const command = readFileSync(`/proc/${entry}/cmdline`, "utf8");
      const kind = /trainer/.test(command) ? "largest trainer" : "largest function";
      memory.set(kind, Math.max(memory.get(kind) ?? 0, residentMiB(Number(entry))));
    } catch {
      // It has ended in the meantime.
    }
  }
  return memory;
}
