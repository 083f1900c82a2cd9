import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunDetails } from "../../core/runs/shapes";
import type { StudyState } from "../../core/tuning/ports";
import { parseOptions } from "../support/arguments";
import { wholeCpuMsOf } from "../support/cpu";
import { findTorch } from "../support/peer-python";
import { startReport } from "../support/report";
import { type BenchStack, runNode, startStack } from "../support/stack";
import { markdownTable } from "../support/table";

interface Result {
  readonly name: string;
  readonly trials: number;
  readonly epochs: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly best: number;
}

interface Options {
  readonly trials: number;
  readonly parallel: number;
  readonly epochs: number;
  readonly sampler: string;
}

const kills = { drivers: 5, workers: 10, stacks: 2 } as const;
const name = "digits";

/**
 * Runs a real study of a CNN on handwritten digits on the embedded cloud: once undisturbed, and with `--kills` again
 * while drivers, trainers and the stack are killed. Both must have the same trials, curves and weights. The peer is
 * Optuna over PyTorch with the same number of trials, epochs and threads.
 */
export async function benchStudy(args: readonly string[]): Promise<void> {
  const {
    kills: withKills,
    noPeer,
    json,
    ...options
  } = parseOptions(args, {
    ...{ trials: 24, parallel: 4, epochs: 9, sampler: "random" },
    kills: false,
    noPeer: false,
  });
  const report = startReport(json);
  const results: Result[] = [];
  const calm = await runStudy("Ringmaster", options, async () => undefined);
  results.push(calm.result);
  if (withKills) {
    const killed = { drivers: 0, workers: 0, stacks: 0 };
    const hit = await runStudy("Ringmaster, with kills", options, (stack) => killSome(stack, killed));
    results.push({ ...hit.result, cpuSeconds: Number.NaN });
    const equal = JSON.stringify(hit.facts) === JSON.stringify(calm.facts);
    process.stderr.write(
      `killed ${killed.drivers} drivers, ${killed.workers} trainers, ${killed.stacks} stacks; ` +
        `trials, curves and weights ${equal ? "equal" : "DIFFER"}\n`,
    );
    if (!equal) process.exitCode = 1;
    for (const [number, trial] of equal ? [] : calm.facts.trials.entries()) {
      const [expected, found] = [JSON.stringify(trial), JSON.stringify(hit.facts.trials[number])];
      if (expected !== found) process.stderr.write(`  ${expected}\n  ${found}\n`);
    }
  }
  const peer = noPeer ? "left out" : findTorch();
  if (typeof peer === "string") process.stderr.write(`no peer: ${peer}\n`);
  else results.push(optuna(peer.python, calm.file, options));
  report(
    { results },
    "",
    markdownTable(
      ["study", "trials", "epochs", "of all in full", "wall s", "CPU s", "CPU s per trial", "best accuracy"],
      results.map((one) => [
        ...[one.name, String(one.trials), String(one.epochs)],
        `${Math.round((100 * one.epochs) / (one.trials * options.epochs))} %`,
        ...[one.seconds.toFixed(1), ...cpuOf(one), one.best.toFixed(4)],
      ]),
    ),
  );
}

/** The processor time of a stack that was killed is not known. */
function cpuOf({ cpuSeconds, trials }: Result): readonly string[] {
  if (Number.isNaN(cpuSeconds)) return ["–", "–"];
  return [cpuSeconds.toFixed(1), (cpuSeconds / trials).toFixed(2)];
}

async function runStudy(
  title: string,
  { trials, parallel, epochs, sampler }: Options,
  disturb: (stack: BenchStack) => Promise<void>,
): Promise<{ readonly result: Result; readonly facts: { readonly trials: readonly object[] }; readonly file: string }> {
  const stack = startStack();
  const file = join(stack.directory, "digits.parquet");
  const write = (path: string, text: string): string => {
    writeFileSync(join(stack.directory, path), text);
    return join(stack.directory, path);
  };
  runNode("examples/digits/prepare.js", file);
  stack.ringmaster(["datasets", "push", "digits", "--file", file, "--schema", "examples/digits/schema.yaml"]);
  write("job.yaml", jobOf(epochs));
  const study = write("study.yaml", studyOf({ trials, parallel, epochs, sampler }));
  const [began, cpu] = [performance.now(), wholeCpuMsOf(stack.pid)];
  stack.ringmaster(["study", "create", study]);
  let state = await stateOf(stack);
  while (state === undefined || state.study.bestRunId === undefined) {
    await disturb(stack);
    await new Promise((wait) => setTimeout(wait, 250));
    state = await stateOf(stack).catch(() => undefined);
  }
  const seconds = (performance.now() - began) / 1_000;
  const cpuSeconds = (wholeCpuMsOf(stack.pid) - cpu) / 1_000;
  // The version is registered and judged; a person promotes it.
  stack.ringmaster(["runs", "watch", state.study.bestRunId as string], [0, 1, 3]);
  stack.ringmaster(["models", "approve", name, "1", "--wait"]);
  const best = state.trials[state.study.best[0] as number];
  const facts = {
    best: state.study.best,
    weights: await weightsOf(stack, best?.runId as string),
    trials: state.trials.map(({ number, params, state: end, until, reports, values }) => ({
      ...{ number, params, end, until, reports, values },
    })),
  };
  const trained = state.trials.reduce((sum, { reports }) => sum + (reports.at(-1)?.epoch ?? 0), 0);
  const kept = join(tmpdir(), `ringmaster-bench-digits-${process.pid}.parquet`);
  writeFileSync(kept, readFileSync(file));
  stack.close();
  return {
    result: { name: title, trials, epochs: trained, seconds, cpuSeconds, best: best?.values?.[0] ?? Number.NaN },
    facts,
    file: kept,
  };
}

function jobOf(epochs: number): string {
  return `experiment: digits
dataset: digits
model: { type: cnn, filters: [8, 16], kernelSize: 3, hidden: [64] }
hyperparameters: { optimizer: adam, learningRate: 0.004, batchSize: 64, epochs: ${epochs} }
resources: { microBatches: 1 }
seed: 7
`;
}

function studyOf({ trials, parallel, epochs, sampler }: Options): string {
  return `name: ${name}
job: job.yaml
objective: { metric: validation/accuracy, direction: maximize }
space:
  hyperparameters.learningRate: { type: float, low: 0.0001, high: 0.1, log: true }
  model.hidden: { type: categorical, choices: [[32], [64], [128]] }
sampler: { type: ${sampler} }
scheduler: ${epochs < 3 ? "{ type: none }" : "{ type: hyperband, factor: 3 }"}
parallel: ${parallel}
stop: { trials: ${trials} }
best: { registerAs: ${name} }
`;
}

async function get<T>({ api }: BenchStack, path: string): Promise<T> {
  return (await (await fetch(`${api}/api/v1${path}`)).json()) as T;
}

async function stateOf(stack: BenchStack): Promise<StudyState | undefined> {
  const state = await get<Partial<StudyState>>(stack, `/hpo/studies/${name}`);
  return state.study === undefined ? undefined : (state as StudyState);
}

async function weightsOf(stack: BenchStack, runId: string): Promise<unknown> {
  const { steps } = await get<RunDetails>(stack, `/training-runs/${runId}`);
  return (steps.find(({ step }) => step === "LaunchTraining")?.output as { weightsSha256?: string })?.weightsSha256;
}

/** Kills at most one process: mostly a trainer, sometimes a driver, twice the stack. */
async function killSome(
  stack: BenchStack,
  killed: { drivers: number; workers: number; stacks: number },
): Promise<void> {
  const total = killed.drivers + killed.workers + killed.stacks;
  await new Promise((wait) => setTimeout(wait, 1_500));
  if (killed.stacks < kills.stacks && total >= 6 * (killed.stacks + 1)) {
    process.kill(stack.pid, "SIGKILL");
    killed.stacks += 1;
    const { api, pid, endpoint } = stack.ringmaster(["up", "--detach", "--port", "0", "--api-port", "0"]) as BenchStack;
    Object.assign(stack, { api, pid, endpoint });
  } else if (killed.drivers < kills.drivers && total % 3 === 2) killed.drivers += killOne(stack, /drive-study/);
  else if (killed.workers < kills.workers) killed.workers += killOne(stack, /trainer/);
}

function killOne({ endpoint }: BenchStack, pattern: RegExp): number {
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const isOfStack = readFileSync(`/proc/${entry}/environ`, "utf8").includes(`AWS_ENDPOINT_URL=${endpoint}`);
      if (!isOfStack || !pattern.test(readFileSync(`/proc/${entry}/cmdline`, "utf8"))) continue;
      process.kill(Number(entry), "SIGKILL");
      return 1;
    } catch {
      // It has ended in the meantime.
    }
  }
  return 0;
}

function optuna(python: string, file: string, { trials, parallel, epochs }: Options): Result {
  const script = join("bench", "tuning", "study.py");
  const { status, stdout, stderr } = spawnSync(
    python,
    [script, file, String(trials), String(parallel), String(epochs)],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`${script} ended with code ${status}: ${stderr}`);
  const peer = JSON.parse(stdout) as Omit<Result, "name" | "trials"> & { version: string; torch: string };
  return { ...peer, name: `Optuna ${peer.version}, PyTorch ${peer.torch}`, trials };
}
