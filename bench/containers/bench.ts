import path from "node:path";
import { parseArgs } from "node:util";
import { objectKeys } from "../../core/object-keys";
import { seededRandom } from "../../test/support/random";
import { TrainerFleet } from "../../test/trainer/process/fleet";
import { readResult, storeDataset, storeTask } from "../../test/trainer/process/task";
import type { TrainerProcess } from "../../test/trainer/process/trainer-process";
import { measurePeer } from "../elastic/peer";
import { builtBundles } from "../support/bundles";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { findTorch } from "../support/peer-python";
import { markdownTable } from "../support/table";

const plan = { workers: 2, steps: 300, checkpointEverySteps: 10, pauseMs: 20, from: 40 };
const trialMs = 90_000;
/** Time after which Batch starts the lost worker again. */
const restartMs = 2_000;

interface Outcome {
  readonly resumeMs: number;
  readonly lost: number;
}

interface Line {
  readonly rank: number;
  readonly pid: number;
  readonly step: number;
  readonly at: number;
}

/** Kills one of two DDP workers at random steps, in a container's run and under torchrun: `npm run bench -- containers`. */
export async function benchContainers(args: readonly string[]): Promise<void> {
  const options = { trials: { type: "string", default: "20" }, json: { type: "boolean", default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const trials = Number(values.trials);
  const torch = findTorch();
  if (typeof torch === "string") {
    process.stdout.write(`skipped: ${torch}\n`);
    return;
  }
  const machine = describeMachine();
  const bundles = builtBundles();
  const fleet = await TrainerFleet.start(
    ["preload.js", "trainer.js"].flatMap((name, at) => [...(at ? [] : ["--require"]), path.join(bundles, name)]),
  );
  const random = seededRandom(7);
  const outcomes: (Outcome | undefined)[] = [];
  try {
    const dataset = await storeDataset(fleet.cloud.store);
    for (let trial = 0; trial < trials; trial += 1) {
      const runId = `trial-${trial}`;
      const command = [torch.python, path.resolve("bench/elastic/ddp.py"), "checkpoint.pt"];
      command.push(...[plan.steps, plan.checkpointEverySteps, plan.pauseMs].map(String));
      const model = {
        type: "container" as const,
        command,
        env: { OMP_NUM_THREADS: "1", GLOO_SOCKET_IFNAME: "lo" },
        data: "csv" as const,
        options: {},
      };
      await fleet.cloud.store.put(objectKeys.trainingDataset(runId), JSON.stringify(dataset));
      await storeTask(fleet.cloud.store, runId, { model, workers: plan.workers });
      const killAfter = plan.from + Math.floor(random() * (plan.steps - 3 * plan.from));
      outcomes.push(await runTrial(fleet, runId, killAfter, Math.floor(random() * plan.workers)));
    }
  } finally {
    await fleet.stop();
  }
  const peer = await measurePeer(trials, plan);
  if (typeof peer === "string") throw new Error(peer);
  const complete = outcomes.filter((outcome) => outcome !== undefined);
  const ours = {
    complete: complete.length,
    resumesMs: complete.map(({ resumeMs }) => resumeMs),
    lostSteps: complete.map(({ lost }) => lost),
  };
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ machine, plan, trials, ours, peer })}\n`);
    return;
  }
  const row = (name: string, { complete: done, resumesMs, lostSteps }: typeof ours) => [
    ...[
      name,
      `${done} of ${trials}`,
      `${(median(resumesMs) / 1_000).toFixed(2)} s`,
      `${(Math.max(...resumesMs) / 1_000).toFixed(2)} s`,
    ],
    ...[String(median(lostSteps)), String(Math.max(...lostSteps))],
  ];
  const columns = [
    "one of two DDP workers killed",
    "complete",
    "continues after, median",
    "maximum",
    "steps repeated, median",
    "maximum",
  ];
  const rows = [
    row("container", ours),
    row(`torchrun (PyTorch ${peer.torch})`, {
      ...peer,
      resumesMs: [...peer.resumesMs],
      lostSteps: [...peer.lostSteps],
    }),
  ];
  process.stdout.write(`${machineLine(machine)}\n\n${markdownTable(columns, rows)}\n`);
}

/** Kills the trainer whose command has the rank, and starts it again as Batch does; `undefined` if the run does not complete. */
async function runTrial(
  fleet: TrainerFleet,
  runId: string,
  killAfter: number,
  rank: number,
): Promise<Outcome | undefined> {
  const trainers: TrainerProcess[] = [0, 1].map((index) => fleet.start(runId, 0, index));
  const read = new Map<TrainerProcess, number>();
  const pids = new Set<number>();
  let killedAt: number | undefined;
  let [furthest, resumeMs, begun]: [number, number | undefined, number | undefined] = [0, undefined, undefined];
  const look = (trainer: TrainerProcess, index: number, text: string): void => {
    if (!text.startsWith('{"rank"')) return;
    const line = JSON.parse(text) as Line;
    if (killedAt === undefined || pids.has(line.pid)) {
      pids.add(line.pid);
      furthest = Math.max(furthest, line.step);
    } else {
      begun ??= line.step;
      if (line.step > furthest) resumeMs ??= line.at - killedAt;
    }
    if (killedAt !== undefined || line.step < killAfter || line.rank !== rank) return;
    killedAt = Date.now();
    trainer.signal("SIGKILL");
    setTimeout(() => trainers.push(fleet.start(runId, 0, index, 2)), restartMs);
  };
  const until = Date.now() + trialMs;
  let done = false;
  while (!done && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    for (const [at, trainer] of trainers.entries()) {
      const from = read.get(trainer) ?? 0;
      for (const line of trainer.lines.slice(from))
        if ("rank" in line && "pid" in line) look(trainer, at % 2, JSON.stringify(line));
      read.set(trainer, trainer.lines.length);
    }
    done = (await fleet.cloud.store.size(objectKeys.trainingResult(runId))) !== undefined;
  }
  await Promise.all(trainers.map(({ ended }) => ended));
  if (!done || resumeMs === undefined || begun === undefined || !(await readResult(fleet.cloud.store, runId)))
    return undefined;
  return { resumeMs, lost: Math.max(0, furthest + 1 - begun) };
}
