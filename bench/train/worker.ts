/** One of our workers, wired like the trainer: engine, leaves, collective, optimizer. Only the data are prepared in memory. */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { Collective } from "../../trainer-container/collective/collective";
import { Listener } from "../../trainer-container/collective/listener";
import type { Mesh } from "../../trainer-container/collective/mesh";
import { createEngine } from "../../trainer-container/engine/create-engine";
import { allocateSum } from "../../trainer-container/kernels/sum-memory";
import { applyStep } from "../../trainer-container/loop/apply";
import { createLeafComputer } from "../../trainer-container/loop/gradients";
import { createReplica } from "../../trainer-container/loop/replica";
import { scoreLayout } from "../../trainer-container/loop/score";
import type { RankAddress } from "../collective/protocol";
import { runChild, say } from "../support/child";
import { openMesh } from "../support/mesh";
import { benchPlan } from "../support/training-plan";
import { memoryFeed } from "./memory-feed";
import { batchesInMemory } from "./models";
import { definitionOf } from "./modules";
import type { Failed, Measured, Ready, Setup, Task } from "./protocol";

interface Start {
  readonly rank: number;
  readonly members: readonly RankAddress[];
}

const planOf = ({ batchSize, backend, microBatches }: Setup, workers: number) =>
  benchPlan({
    batchSize,
    backend,
    microBatches,
    workers,
    clipNorm: 0,
    rows: batchSize * batchesInMemory,
  });

async function createTrainer(setup: Setup, mesh: Mesh) {
  const engine = await createEngine({ preferred: setup.backend, threads: 1 });
  const plan = planOf(setup, mesh.worldSize);
  const model = await engine.createModel(definitionOf(setup), plan.seed);
  const layout = scoreLayout([]);
  const replica = createReplica(model, plan, layout);
  model.writeWeights(replica.weights);
  const leaves = createLeafComputer({ model, plan, layout, feed: memoryFeed(setup), now: () => performance.now() });
  const reduced = allocateSum(leaves.length);
  const collective = new Collective(mesh);
  const range = collective.plan.ranks[mesh.options.rank]!.leaves;
  const { subtrees } = collective;
  let loss = Number.NaN;
  return {
    parameters: model.parameterCount,
    async measure({ steps }: Task): Promise<Measured> {
      const cpu = process.cpuUsage();
      const start = performance.now();
      for (let i = 0; i < steps; i += 1) {
        const step = replica.finishedSteps;
        const { optimizer } = replica;
        const pass = mesh.worldSize === 1 && optimizer ? await leaves.beginStep(optimizer, step, range) : undefined;
        if (pass) {
          loss = applyStep(replica, pass, plan, layout).score.loss;
          continue;
        }
        const local = await leaves.compute(step, range, { subtrees });
        const out = mesh.worldSize === 1 && local.length === 1 ? local[0]! : reduced;
        await collective.allReduce({ local, out, signals: 0, finishedSteps: step });
        loss = applyStep(replica, out, plan, layout).score.loss;
      }
      const seconds = (performance.now() - start) / 1_000;
      const { user, system } = process.cpuUsage(cpu);
      return { seconds, cpuSeconds: (user + system) / 1e6, loss };
    },
  };
}

async function main(): Promise<void> {
  const setup = JSON.parse(process.argv[2]!) as Setup;
  const incarnation = randomUUID();
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 60_000, incarnation });
  say({ port: listener.port, incarnation } satisfies RankAddress);
  let trainer: Awaited<ReturnType<typeof createTrainer>> | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    if (trainer) {
      const measured = trainer.measure(JSON.parse(line) as Task);
      say(await measured.catch(({ message }: Error): Failed => ({ failure: message })));
      continue;
    }
    const { rank, members } = JSON.parse(line) as Start;
    const mesh = await openMesh(listener, rank, members, { microBatches: setup.microBatches });
    trainer = await createTrainer(setup, mesh);
    say({ parameters: trainer.parameters } satisfies Ready);
  }
}

runChild(main);
