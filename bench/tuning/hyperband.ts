import { drawsFor } from "../../core/tuning/draws";
import { bestTrials } from "../../core/tuning/history";
import type { PlannedStudy } from "../../core/tuning/planner";
import { samplerSettingsSchema } from "../../core/tuning/sampler";
import { type SchedulerTrial, schedulerSettingsSchema } from "../../core/tuning/scheduler";
import { rungsOf } from "../../core/tuning/schedulers/halving";
import { simulate } from "../../test/core/tuning/simulated-study";
import { list, parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { requirePeerScript } from "../support/peer-python";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { curveAt, curveSpace } from "./curves";

interface Outcome {
  readonly epochs: number;
  readonly best: number;
}

interface Peer {
  readonly version: string;
  readonly probes: readonly number[];
  readonly results: Readonly<Record<string, readonly Outcome[]>>;
}

const objectives = [{ metric: "validation/loss", direction: "minimize" }] as const;

/** Compares the epochs and the best value of Hyperband with Optuna's pruner, over synthetic learning curves. */
export async function benchHyperband(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    trials: 100,
    epochs: 81,
    seeds: 20,
    samplers: "auto,gp,tpe,random",
    parallel: 4,
    noPeer: false,
  });
  const { trials, epochs } = values;
  const report = startReport(values.json);
  const seeds = Array.from({ length: values.seeds }, (_, seed) => seed);
  const all = trials * epochs;
  const rows: { readonly name: string; readonly share: number; readonly best: number }[] = [];
  const add = (name: string, outcomes: readonly Outcome[]) =>
    rows.push({
      name,
      share: outcomes.reduce((sum, one) => sum + one.epochs, 0) / outcomes.length / all,
      best: median(outcomes.map(({ best }) => best)),
    });
  for (const sampler of list(values.samplers)) {
    const studies = seeds.map((seed) => runStudy(sampler, seed, trials, epochs, values.parallel));
    add(`Ringmaster, ${sampler}, resumed`, studies);
    add(
      `Ringmaster, ${sampler}, if each rung trained again`,
      studies.map(({ best, retrained }) => ({ best, epochs: retrained })),
    );
  }
  const peer = values.noPeer ? undefined : runPeer(seeds, trials, epochs);
  for (const [name, outcomes] of Object.entries(peer?.results ?? {})) {
    add(`Optuna ${peer?.version}, ${name}`, outcomes);
  }
  const cells = rows.map(({ name, share, best }) => [name, (100 * share).toFixed(1), best.toFixed(4)]);
  const columns = ["Hyperband", "epochs, % of all in full", "best value, median"];
  const studies = `${trials} trials of ${epochs} epochs, ${seeds.length} seeds`;
  report({ trials, epochs, rows }, studies, "", markdownTable(columns, cells));
}

function runStudy(
  sampler: string,
  seed: number,
  trials: number,
  maxEpochs: number,
  parallel: number,
): Outcome & { readonly retrained: number } {
  const definition: PlannedStudy["definition"] = {
    ...{ space: curveSpace, objectives, parallel, maxEpochs, stop: { trials } },
    sampler: samplerSettingsSchema.parse({ type: sampler, seed }),
    scheduler: schedulerSettingsSchema.parse({ type: "hyperband" }),
  };
  const draws = drawsFor(seed, 1);
  const curve = (params: Readonly<Record<string, unknown>>, epoch: number) => curveAt(params, epoch, seed);
  const result = simulate({ definition, curve, next: (running) => draws.index(running.length) });
  const rungs = rungsOf(1, maxEpochs, 3);
  return {
    epochs: result.epochs,
    best: bestTrials(result.trials, objectives)[0]?.values?.[0] ?? Number.NaN,
    retrained: result.trials.reduce((sum, trial) => sum + segmentsOf(trial, rungs), 0),
  };
}

/** Returns the epochs of a trial if it began again in each rung. */
function segmentsOf({ bracket = 0, until }: SchedulerTrial, rungs: readonly number[]): number {
  return rungs
    .slice(bracket % rungs.length)
    .filter((rung) => rung <= until)
    .reduce((sum, rung) => sum + rung, 0);
}

function runPeer(seeds: readonly number[], trials: number, epochs: number): Peer {
  const probes = [1, 7, 81].map((epoch) => ({
    params: { rate: 0.01 * epoch ** 0.5, decay: 1e-4, dropout: 0.3, width: 64 },
    epoch,
    seed: epoch,
  }));
  const peer = requirePeerScript<Peer>("tuning/hyperband.py", [], { seeds, trials, epochs, probes });
  for (const [at, { params, epoch, seed }] of probes.entries()) {
    const own = curveAt(params, epoch, seed);
    if (!(Math.abs(own - peer.probes[at]!) < 1e-12)) throw new Error(`the curves differ at epoch ${epoch}`);
  }
  return peer;
}
