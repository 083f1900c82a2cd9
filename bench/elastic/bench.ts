import fs from "node:fs";
import path from "node:path";
import { startCloud } from "../../test/trainer/process/cloud";
import { storeFeatures } from "../../test/trainer/process/task";
import { builtBundles } from "../support/bundles";
import { describeMachine, machineLine } from "../support/machine";
import { type ElasticOptions, readOptions } from "./options";
import { measurePeer, type PeerSummary } from "./peer";
import { type Scenario, type ScenarioName, scenarios } from "./scenarios";
import { renderTable, type Summary, summaryOf, timeText } from "./table";
import { checkpointEverySteps, type Job, totalSteps } from "./task";
import { type Ground, type Outcome, runTrial, runUndisturbed } from "./trial";

const undisturbedWorlds = [1, 2, 3, 4];

function jobs({ workers, backend }: ElasticOptions): { readonly usual: Job; readonly big: Job } {
  return {
    usual: { workers, minWorkers: 1, microBatches: Math.max(4, workers), epochs: 12, backend },
    big: { workers: 32, minWorkers: 24, microBatches: 32, epochs: 8, backend },
  };
}

/**
 * Removes workers at random times of real runs: `npm run bench -- elastic`. Every trial must complete with the bits of the
 * undisturbed run and without repeating a finished step.
 */
export async function benchElastic(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const machine = describeMachine();
  const say = (text: string) => void (options.json || process.stdout.write(`${text}\n`));
  say(`${machineLine(machine)}, seed ${options.seed}`);
  const cloud = await startCloud();
  const ground: Ground = { cloud, script: path.join(builtBundles(), "trainer.js") };
  const { usual, big } = jobs(options);
  const rows: {
    readonly name: ScenarioName;
    readonly scenario: Scenario;
    readonly summary: Summary;
    readonly outcomes: readonly Outcome[];
  }[] = [];
  let peer: PeerSummary | string;
  try {
    await storeFeatures(cloud.store);
    const common = options.scenarios.filter((name) => name !== "big");
    const usualReference = common.length > 0 ? await undisturbed(ground, usual, say) : undefined;
    const bigReference = options.scenarios.includes("big")
      ? await runUndisturbed(ground, { ...big, workers: 1, minWorkers: 1 })
      : undefined;
    for (const name of options.scenarios) {
      const scenario = scenarios[name];
      const job = name === "big" ? big : usual;
      const { sha256, life } = (name === "big" ? bigReference : usualReference)!;
      const outcomes: Outcome[] = [];
      for (let index = 0; index < (options.trials ?? scenario.trials); index += 1) {
        const outcome = await runTrial(ground, scenario, job, life, index, options.seed * 100_000 + index);
        outcomes.push(outcome);
        const wrong = !outcome.complete || outcome.sha256 !== sha256 || outcome.lostSteps > 0;
        if (options.verbose || wrong) say(trialLine(name, index, outcome, sha256));
        if (options.keep !== undefined) keepTranscript(options.keep, name, index, outcome);
      }
      rows.push({ name, scenario, summary: summaryOf(outcomes, sha256), outcomes });
    }
  } finally {
    await cloud.close();
  }
  peer = await measurePeer(Math.min(3, options.trials ?? 3));
  if (options.json) {
    const results = rows.map(({ name, summary, outcomes }) => ({
      name,
      ...summary,
      outcomes: outcomes.map(({ transcript: _, ...outcome }) => outcome),
    }));
    process.stdout.write(
      `${JSON.stringify({ machine, seed: options.seed, checkpointEverySteps, peer, results }, null, 2)}\n`,
    );
    return;
  }
  say(`load average ${describeMachine().loadAverage} at the end\n\n${renderTable(rows)}\n`);
  const missing = rows.reduce((sum, { summary }) => sum + summary.pointsMissing, 0);
  say(`metric points missing: ${missing}`);
  say(peerLine(peer));
}

/** @throws if numbers of workers give different weights: nothing could be compared with them */
async function undisturbed(ground: Ground, job: Job, say: (text: string) => void) {
  const references = [];
  for (const workers of undisturbedWorlds)
    references.push({ workers, ...(await runUndisturbed(ground, { ...job, workers })) });
  const { sha256 } = references[0]!;
  const other = references.find((reference) => reference.sha256 !== sha256);
  if (other) throw new Error(`undisturbed, ${other.workers} workers give ${other.sha256}, but one gives ${sha256}`);
  const { life } = references.find(({ workers }) => workers === job.workers) ?? references.at(-1)!;
  say(
    `${totalSteps(job)} steps, ${job.microBatches} micro-batches, checkpoint each ${checkpointEverySteps} steps; undisturbed with ` +
      `${undisturbedWorlds.join(", ")} workers: ${sha256.slice(0, 16)}…; ${job.workers} workers start in ${timeText(life.startMs)}, ` +
      `train for ${timeText(life.trainMs)}, end in ${timeText(life.endMs)}`,
  );
  return { sha256, life };
}

function trialLine(name: string, index: number, outcome: Outcome, sha256: string): string {
  const { seed, what, complete, resumeMs, lostSteps, repeatedSteps, pointsMissing, wallMs, generations, trouble } =
    outcome;
  const bits = outcome.sha256 === sha256 ? "same bits" : "OTHER BITS";
  return (
    `${name} ${index} (seed ${seed}): ${what}; ${complete ? "complete" : `NOT COMPLETE: ${trouble}`}, ${bits}, resumed after ${timeText(resumeMs)}, ` +
    `${lostSteps} lost, ${repeatedSteps} repeated, ${pointsMissing} points missing, ${generations} generations, ${timeText(wallMs)} in all`
  );
}

function keepTranscript(folder: string, name: string, index: number, { transcript }: Outcome): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${name}-${index}.log`), transcript);
}

function peerLine(peer: PeerSummary | string): string {
  if (typeof peer === "string") return `peer skipped: ${peer}`;
  const { torch, trials, complete, lostSteps, resumesMs, checkpointEverySteps: interval } = peer;
  const sorted = [...resumesMs].sort((a, b) => a - b);
  return (
    `peer: torchrun elastic, PyTorch ${torch}, Gloo, 3 workers, checkpoint to disk each ${interval} steps, one killed in each of ${trials} trials: ` +
    `${complete} complete, resumed after ${timeText(sorted[0])} to ${timeText(sorted.at(-1))}, median ${timeText(sorted[sorted.length >> 1])}; ` +
    `finished steps lost: ${lostSteps.join(", ")}`
  );
}
