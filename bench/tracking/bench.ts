import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { TrainingTask } from "../../core/training/training-task";
import { startCloud, type TrainerCloud } from "../../test/trainer/process/cloud";
import { storeFeatures, storeTask } from "../../test/trainer/process/task";
import { Worker } from "../elastic/worker";
import { builtBundles } from "../support/bundles";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";

const warmUpSteps = 200;
/** Of /proc's processor times, on all of Linux's platforms that Node runs on. */
const tickMs = 10;

/** User and system time; undefined where there is no /proc, or the process has gone. */
function cpuMsOf(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return undefined;
  }
}

interface Measured {
  /** Milliseconds a step, from `warmUpSteps` on: before, code is compiled. */
  readonly stepMs: number;
  /** Milliseconds of processor time a step, all threads of the worker. */
  readonly cpuMs: number;
  readonly steps: number;
  /** Points that the store received. */
  readonly points: number;
}

/** One worker's whole run. Steps are traced in both cases, for the trace is how they are timed. */
async function trainOnce(cloud: TrainerCloud, script: string, runId: string, tracked: boolean): Promise<Measured> {
  const { endpoint, directory } = cloud;
  const environment: Readonly<Record<string, string>> = tracked ? {} : { RINGMASTER_INGEST_FUNCTION: "" };
  let cpu: { readonly step: number; readonly ms: number }[] = [];
  const look = ({ pid, steps }: Worker) => {
    const step = steps.at(-1)?.step ?? 0;
    if (step < warmUpSteps || step % 50 !== 0) return;
    const ms = cpuMsOf(pid);
    if (ms !== undefined) cpu = [...cpu.slice(0, 1), { step, ms }];
  };
  const worker = new Worker({ script, endpoint, directory, runId, workerIndex: 0, attempt: 1, environment }, look);
  const end = await worker.ended;
  if (end !== 0) throw new Error(`the trainer ended with ${end}:\n${worker.lines.slice(-5).join("\n")}`);
  const steps = worker.steps.slice(warmUpSteps);
  const [first, last] = [cpu[0]!, cpu.at(-1)!];
  const mine = cloud.batches.filter((batch) => batch.runId === runId);
  return {
    stepMs: (steps.at(-1)!.at - steps[0]!.at) / (steps.length - 1),
    cpuMs: (last.ms - first.ms) / (last.step - first.step),
    steps: worker.steps.length,
    points: mine.flatMap(({ series }) => series).reduce((sum, { steps }) => sum + steps.length, 0),
  };
}

/** What metrics cost a step: the same run with and without somewhere to send them, in turn. */
export async function benchTracking(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "11" },
      backend: { type: "string", default: "wasm" },
      json: { type: "boolean" },
    },
  });
  const backend = values.backend === "native" ? "native" : "wasm";
  const machine = describeMachine();
  const cloud = await startCloud();
  const on: Measured[] = [];
  const off: Measured[] = [];
  try {
    const script = `${builtBundles()}/trainer.js`;
    await storeFeatures(cloud.store);
    const model: TrainingTask["model"] = { type: "mlp", hidden: [768, 512], activation: "relu", dropout: 0 };
    for (let round = -1; round < Number(values.rounds); round += 1) {
      // Which goes first changes: caches and clocks that warm up meet both alike.
      for (const tracked of round % 2 === 0 ? [true, false] : [false, true]) {
        const runId = `tracking-${round}-${tracked ? "on" : "off"}`;
        const checkpoint = { everySteps: 1_000_000, everySeconds: 600, keep: 3 };
        await storeTask(cloud.store, runId, { model, backend, checkpoint }, { batchSize: 128, epochs: 100 });
        const measured = await trainOnce(cloud, script, runId, tracked);
        if (round >= 0) (tracked ? on : off).push(measured);
      }
    }
  } finally {
    await cloud.close();
  }
  const stepMs = { on: median(on.map((each) => each.stepMs)), off: median(off.map((each) => each.stepMs)) };
  const pairs = on.map((each, round) => each.stepMs / off[round]!.stepMs - 1);
  const overhead = median(pairs);
  const cpuOverhead = median(on.map((each, round) => each.cpuMs / off[round]!.cpuMs - 1));
  if (values.json) {
    process.stdout.write(
      `${JSON.stringify({ machine, backend, stepMs, overhead, cpuOverhead, pairs, on, off }, null, 2)}\n`,
    );
    return;
  }
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
  process.stdout.write(
    `${machineLine(machine)} (${describeMachine().loadAverage} at the end)\n\n` +
      "| backend | steps a run | points a run | ms a step, tracked | not tracked | overhead, median of pairs | in CPU time |\n" +
      "| --- | --: | --: | --: | --: | --: | --: |\n" +
      `| ${backend} | ${on[0]!.steps} | ${on[0]!.points} | ${stepMs.on.toFixed(3)} | ${stepMs.off.toFixed(3)} | ${percent(overhead)} | ${percent(cpuOverhead)} |\n\n` +
      `pairs: ${pairs.map(percent).join(", ")} (target: at most 1 %)\n`,
  );
}
