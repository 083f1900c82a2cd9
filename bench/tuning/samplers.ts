import type { ObservedTrial } from "../../core/tuning/history";
import { createSampler } from "../../core/tuning/sampler";
import { drawsFor, randomSampler } from "../../core/tuning/samplers/sampler";
import { samplerSettingsSchema } from "../../core/tuning/settings";
import { spaceSchema } from "../../core/tuning/space";
import { list, parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { requirePeerScript } from "../support/peer-python";
import { startReport } from "../support/report";
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

export async function benchSamplers(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    trials: 200,
    seeds: 25,
    sampler: "auto",
    functions: Object.keys(functions).join(","),
    noPeer: false,
  });
  const { trials } = values;
  const report = startReport(values.json);
  const seeds = Array.from({ length: values.seeds }, (_, seed) => seed);
  const names = list(values.functions);
  const peer = values.noPeer ? undefined : runPeer(names, seeds, trials, values.sampler);
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
  const counterpart = values.sampler === "random" ? "random" : "TPE";
  const optuna = `Optuna ${peer?.version ?? ""} ${counterpart}`;
  const shown = (value: number | undefined) => value?.toPrecision(3) ?? "–";
  const regrets = rows.map((row) => [row.name, shown(row.own), shown(row.peer), shown(row.ratio)]);
  const times = latencies.map(({ size, own, peer: theirs }) => [String(size), shown(own), shown(theirs)]);
  report(
    { trials, seeds: seeds.length, rows, latencies },
    `${trials} trials, ${seeds.length} seeds`,
    "",
    markdownTable(["regret, median", `Ringmaster, ${values.sampler}`, optuna, "ratio"], regrets),
    "",
    markdownTable(["trials, 10 parameters", "ms a suggestion", "Optuna TPE, ms"], times),
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
  const draws = drawsFor(1);
  const probes = names.map((name) => {
    const { space } = functions[name]!;
    return [name, randomSampler({ space, objectives, seed: draws.index(1000) }).suggest([], 0)!] as const;
  });
  const input = { names, seeds, trials, sampler, probes, history: sizes, repeats };
  const peer = requirePeerScript<Peer>("tuning/samplers.py", [], input);
  for (const [at, [name, params]] of probes.entries()) {
    const own = functions[name]!.at(params);
    if (!(Math.abs(own - peer.probes[at]!) < 1e-9)) throw new Error(`the functions differ: ${name}`);
  }
  return peer;
}
