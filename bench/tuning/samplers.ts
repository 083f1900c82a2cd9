import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawsFor } from "../../core/tuning/draws";
import type { ObservedTrial } from "../../core/tuning/history";
import { createSampler, samplerSettingsSchema } from "../../core/tuning/sampler";
import { randomSampler } from "../../core/tuning/samplers/sampler";
import { spaceSchema } from "../../core/tuning/space";
import { list } from "../support/arguments";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { markdownTable } from "../support/table";
import { functions, type TestFunction } from "./functions";

interface Peer {
  readonly version: string;
  readonly probes: readonly number[];
  readonly best: Readonly<Record<string, readonly number[]>>;
  readonly latency: readonly number[];
}

const objectives = [{ metric: "loss", direction: "minimize" }] as const;
const sizes = [1_000, 10_000];
const repeats = 21;

/** Compares the best value after a number of trials, and the time of a suggestion, with Optuna's TPE. */
export async function benchSamplers(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      trials: { type: "string", default: "200" },
      seeds: { type: "string", default: "25" },
      sampler: { type: "string", default: "auto" },
      functions: { type: "string", default: Object.keys(functions).join(",") },
      "no-peer": { type: "boolean" },
      json: { type: "boolean" },
    },
  });
  const trials = Number(values.trials);
  const seeds = Array.from({ length: Number(values.seeds) }, (_, seed) => seed);
  const names = list(values.functions);
  const peer = values["no-peer"] ? undefined : runPeer(names, seeds, trials, values.sampler);
  const rows = names.map((name) => {
    const f = functions[name];
    if (f === undefined) throw new Error(`the functions are: ${Object.keys(functions).join(", ")}`);
    const own = median(seeds.map((seed) => bestOf(values.sampler, f, seed, trials))) - f.least;
    const theirs = peer === undefined ? undefined : median([...peer.best[name]!]) - f.least;
    return { name, own, peer: theirs, ratio: theirs === undefined ? undefined : own / theirs };
  });
  const latencies = sizes.map((size, at) => ({
    size,
    own: latency(values.sampler, size),
    peer: peer?.latency[at],
  }));
  const machine = describeMachine();
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ machine, trials, seeds: seeds.length, rows, latencies }, null, 2)}\n`);
    return;
  }
  const counterpart = ["cmaes", "nsga2", "random", "sobol"].includes(values.sampler) ? values.sampler : "TPE";
  const optuna = `Optuna ${peer?.version ?? ""} ${counterpart}`;
  const shown = (value: number | undefined) => value?.toPrecision(3) ?? "–";
  const regrets = rows.map((row) => [row.name, shown(row.own), shown(row.peer), shown(row.ratio)]);
  const times = latencies.map(({ size, own, peer: theirs }) => [String(size), shown(own), shown(theirs)]);
  process.stdout.write(
    `${machineLine(machine)}; ${trials} trials, ${seeds.length} seeds\n\n${markdownTable(
      ["regret, median", `Ringmaster, ${values.sampler}`, optuna, "ratio"],
      regrets,
    )}\n\n${markdownTable(["trials, 10 parameters", "ms a suggestion", "Optuna TPE, ms"], times)}\n`,
  );
}

function bestOf(type: string, { space, at }: TestFunction, seed: number, trials: number): number {
  const sampler = createSampler(samplerSettingsSchema.parse({ type, seed }), space, objectives);
  const history: ObservedTrial[] = [];
  let best = Infinity;
  for (let number = 0; number < trials; number += 1) {
    const params = sampler.suggest(history, number) ?? {};
    const value = at(params);
    best = Math.min(best, value);
    history.push({ number, params, state: "completed", reports: [], values: [value] });
  }
  return best;
}

/** Returns the median milliseconds of a suggestion by a new sampler. */
function latency(type: string, size: number): number {
  const space = spaceSchema.parse(
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`p${i}`, { type: "float", low: 0, high: 1 }])),
  );
  const random = randomSampler({ space, objectives, seed: 0 });
  const history = Array.from({ length: size }, (_, number): ObservedTrial => {
    const params = random.suggest([], number) ?? {};
    const value = Object.values(params).reduce<number>((sum, x) => sum + (Number(x) - 0.3) ** 2, 0);
    return { number, params, state: "completed", reports: [], values: [value] };
  });
  return median(
    Array.from({ length: repeats }, (_, i) => {
      const start = performance.now();
      createSampler(samplerSettingsSchema.parse({ type, seed: i }), space, objectives).suggest(history, size);
      return performance.now() - start;
    }),
  );
}

function runPeer(names: readonly string[], seeds: readonly number[], trials: number, sampler: string): Peer {
  const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const draws = drawsFor(1);
  const probes = names.map((name) => {
    const { space } = functions[name]!;
    return [name, randomSampler({ space, objectives, seed: draws.index(1000) }).suggest([], 0)!] as const;
  });
  const input = JSON.stringify({ names, seeds, trials, sampler, probes, history: sizes, repeats });
  const script = join(process.cwd(), "bench", "tuning", "samplers.py");
  const { status, stdout, stderr } = spawnSync(python, [script], { input, encoding: "utf8" });
  if (status !== 0) throw new Error(`Optuna failed; RINGMASTER_PEERS_PYTHON names a Python that has it: ${stderr}`);
  const peer = JSON.parse(stdout) as Peer;
  for (const [at, [name, params]] of probes.entries()) {
    const own = functions[name]!.at(params);
    if (!(Math.abs(own - peer.probes[at]!) < 1e-9)) throw new Error(`the functions differ: ${name}`);
  }
  return peer;
}
