import type { TrainingTask } from "../../core/runs/training-task";
import { startCloud, type TrainerCloud } from "../../test/trainer/process/cloud";
import { storeFeatures, storeTask } from "../../test/trainer/process/task";
import { Worker } from "../elastic/worker";
import { parseOptions } from "../support/arguments";
import { builtBundles } from "../support/bundles";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { type ProcessorTime, processorTimeOf } from "./processor-time";
import { recordingCost } from "./recording";

const warmUpSteps = 200;
const batchSize = 128;

interface Case {
  readonly name: string;
  readonly hidden: readonly number[];
  readonly trainRows: readonly number[];
  readonly epochs: number;
}

/** MNIST's size. The end of an epoch takes a checkpoint, which also flushes points. */
const ordinaryRows = [30_000, 30_000];
const cases: readonly Case[] = [
  { name: "ordinary", hidden: [768, 512], trainRows: ordinaryRows, epochs: 3 },
  { name: "short steps", hidden: [384, 256], trainRows: ordinaryRows, epochs: 4 },
  /** Seven steps per epoch: about 30 checkpoints a second, more than real trainings take. */
  { name: "hard", hidden: [384, 256], trainRows: [500, 523], epochs: 200 },
];

interface Measured {
  /** Milliseconds per step, from `warmUpSteps` on, because code is compiled before. */
  readonly stepMs: number;
  /** Milliseconds of processor time per step. */
  readonly cpu: ProcessorTime;
  readonly steps: number;
  readonly checkpoints: number;
  /** Number of batches that the store received. */
  readonly batches: number;
  readonly points: number;
}

/** Runs one worker completely. Steps are traced in both cases, because the trace gives their times. */
async function trainOnce(cloud: TrainerCloud, script: string, runId: string, tracked: boolean): Promise<Measured> {
  const { endpoint, directory } = cloud;
  const environment: Readonly<Record<string, string>> = tracked ? {} : { RINGMASTER_INGEST_FUNCTION: "" };
  let seen: (ProcessorTime & { readonly step: number })[] = [];
  const look = ({ pid, steps }: Worker) => {
    const step = steps.at(-1)?.step ?? 0;
    if (step < warmUpSteps || step % 50 !== 0) return;
    const time = processorTimeOf(pid);
    if (time !== undefined) seen = [...seen.slice(0, 1), { step, ...time }];
  };
  const worker = new Worker({ script, endpoint, directory, runId, workerIndex: 0, attempt: 1, environment }, look);
  const end = await worker.ended;
  if (end !== 0) throw new Error(`the trainer ended with ${end}:\n${worker.lines.slice(-5).join("\n")}`);
  const steps = worker.steps.slice(warmUpSteps);
  const [first, last] = [seen[0]!, seen.at(-1)!];
  const aStep = (part: keyof ProcessorTime) => (last[part] - first[part]) / (last.step - first.step);
  const mine = cloud.batches.filter((batch) => batch.runId === runId);
  return {
    stepMs: (steps.at(-1)!.at - steps[0]!.at) / (steps.length - 1),
    cpu: { main: aStep("main"), all: aStep("all") },
    steps: worker.steps.length,
    checkpoints: worker.messages.filter((message) => message === "checkpoint written").length,
    batches: mine.length,
    points: mine.flatMap(({ series }) => series).reduce((sum, { steps }) => sum + steps.length, 0),
  };
}

interface Way {
  readonly script: string;
  readonly backend: "native" | "wasm";
  readonly rounds: number;
  /** Runs both of a pair at the same time, so that other load affects both alike. */
  readonly together: boolean;
}

/** Measures the same run with and without a store for its metrics, in alternation. */
async function measure(cloud: TrainerCloud, one: Case, { script, backend, rounds, together }: Way) {
  const on: Measured[] = [];
  const off: Measured[] = [];
  await storeFeatures(cloud.store, one.trainRows);
  const model: TrainingTask["model"] = { type: "mlp", hidden: [...one.hidden], activation: "relu", dropout: 0 };
  for (let round = -1; round < rounds; round += 1) {
    const start = async (tracked: boolean) => {
      const runId = `${one.name.replaceAll(" ", "-")}-${round}-${tracked ? "on" : "off"}`;
      const checkpoint = { everySteps: 1_000_000, everySeconds: 600, keep: 3 };
      await storeTask(cloud.store, runId, { model, backend, checkpoint }, { batchSize, epochs: one.epochs });
      const measured = await trainOnce(cloud, script, runId, tracked);
      if (round >= 0) (tracked ? on : off).push(measured);
    };
    // The order changes, so that warm caches and clocks affect both alike.
    const order = round % 2 === 0 ? [true, false] : [false, true];
    if (together) await Promise.all(order.map(start));
    else for (const tracked of order) await start(tracked);
  }
  const over = (of: (measured: Measured) => number) => on.map((each, round) => of(each) / of(off[round]!) - 1);
  const stepMs = median(off.map((each) => each.stepMs));
  return {
    name: one.name,
    stepMs,
    wall: over((each) => each.stepMs),
    main: over((each) => each.cpu.main),
    all: over((each) => each.cpu.all),
    recordingMs: await recordingCost(stepMs),
    on,
    off,
  };
}

type Measurement = Awaited<ReturnType<typeof measure>>;

const percent = (share: number) => `${(share * 100).toFixed(2)} %`;

function rowOf({ name, stepMs, wall, main, all, recordingMs, on, off }: Measurement): readonly string[] {
  const { steps, checkpoints, batches, points } = on[0]!;
  const [mainMs, allMs] = [median(off.map(({ cpu }) => cpu.main)), median(off.map(({ cpu }) => cpu.all))];
  return [
    name,
    `${steps}, ${checkpoints}, ${batches}, ${points}`,
    `${stepMs.toFixed(2)}, ${mainMs.toFixed(2)}, ${allMs.toFixed(2)}`,
    ...[wall, main, all].map((pairs) => percent(median(pairs))),
    `${(recordingMs * 1_000).toFixed(1)} µs, ${percent(recordingMs / mainMs)}`,
  ];
}

/** Measures the cost of metrics per step. */
export async function benchTracking(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    rounds: 7,
    cases: cases.map(({ name }) => name).join(","),
    backend: "wasm",
    together: false,
  });
  const backend = values.backend === "native" ? "native" : "wasm";
  const requested = values.cases.split(",");
  const report = startReport(values.json);
  const cloud = await startCloud();
  const results: Measurement[] = [];
  try {
    const script = `${builtBundles()}/trainer.js`;
    const way: Way = { script, backend, rounds: values.rounds, together: values.together };
    for (const one of cases.filter(({ name }) => requested.includes(name))) {
      results.push(await measure(cloud, one, way));
    }
  } finally {
    await cloud.close();
  }
  const columns = [
    ...["case", "steps, checkpoints, batches, points", "ms a step untracked: wall, thread, process"],
    ...["wall", "training thread", "process", "recording alone"],
  ];
  report(
    { backend, results },
    `${backend}${values.together ? ", the two of a pair at the same time" : ""}`,
    "",
    markdownTable(columns, results.map(rowOf)),
    "",
    "Medians of pairs; the training thread's processor time is the target: at most 1 %.",
    ...results.map(({ name, main }) => `${name}, thread, pairs: ${main.map(percent).join(", ")}`),
  );
}
