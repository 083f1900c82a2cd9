/** One rank: the trainer's collective and optimizer with prepared gradients. Only steps are timed, not the refilling of leaves. */
import { createInterface } from "node:readline";
import { Listener } from "../../trainer-container/collective/listener";
import type { Mesh } from "../../trainer-container/collective/mesh";
import { allocateSum } from "../../trainer-container/collective/sum-memory";
import { defaultCollectiveTiming } from "../../trainer-container/collective/timing";
import type { TrainableModel } from "../../trainer-container/engine/engine";
import { MeshGeneration } from "../../trainer-container/gang/mesh-generation";
import type { GangHead } from "../../trainer-container/gang/model";
import { applyStep } from "../../trainer-container/loop/apply";
import { createReplica } from "../../trainer-container/loop/replica";
import { scoreLayout } from "../../trainer-container/loop/score";
import { ShardedReplica } from "../../trainer-container/loop/sharded-replica";
import { shardedStep } from "../../trainer-container/loop/sharded-step";
import { synchronizeShards } from "../../trainer-container/loop/sharded-synchronize";
import { runChild, say } from "../support/child";
import { openMesh } from "../support/mesh";
import { benchPlan } from "../support/training-plan";
import type { Measured, Setup, Start, Task } from "./protocol";

const layout = scoreLayout([]);

function planOf({ microshards }: Setup, workers: number) {
  return benchPlan({
    batchSize: microshards,
    backend: "wasm",
    microshards,
    workers,
    clipNorm: 1,
    rows: microshards * 10,
  });
}

/** Creates parameters without a computation. */
function parametersOnly(parameters: number): TrainableModel {
  const none = () => {
    throw new Error("not computed here");
  };
  return {
    layers: [],
    layout: [{ name: "w", shape: [parameters], offset: 0, size: parameters, trainable: true }],
    parameterCount: parameters,
    trainableCount: parameters,
    readWeights: (into) => into.fill(0.1),
    writeWeights: () => undefined,
    gradients: none,
    evaluate: none,
    predict: none,
    topology: none,
    dispose: () => undefined,
  };
}

function headOf(ports: readonly number[]): GangHead {
  const members = ports.map((port, rank) => ({
    memberId: `${rank}`,
    incarnation: "1",
    registration: 1,
    workerIndex: rank,
    host: "127.0.0.1",
    port,
    pid: 0,
    finishedSteps: 0,
  }));
  return { number: 1, members, token: "bench", completed: false, sealedAt: 0 };
}

async function createStepper(setup: Setup, mesh: Mesh, head: GangHead) {
  const { parameters, mode, microshards } = setup;
  const plan = planOf(setup, mesh.worldSize);
  const model = parametersOnly(parameters);
  const generation = new MeshGeneration(head, mesh, undefined, () => undefined);
  const { first, end } = generation.leaves;
  const leafLength = parameters + layout.length;
  const base = Float32Array.from({ length: leafLength }, (_, i) => Math.sin(i * 12.9898) * 0.1);
  base.set([0.5, 1, 1], parameters);
  const local = Array.from({ length: end - first }, () => allocateSum(leafLength));
  const refill = () => {
    for (const leaf of local) leaf.set(base);
  };
  if (mode === "sharded") {
    const replica = new ShardedReplica(model, plan, layout);
    await synchronizeShards(replica, generation, { restore: async () => undefined, sleep: async () => undefined });
    const slotBytes = () =>
      replica.shards.flatMap(({ state }) => Object.values(state)).reduce((sum, { byteLength }) => sum + byteLength, 0);
    const step = () => shardedStep(replica, generation, model, layout, local, 0);
    return { refill, replica, slotBytes, step, generation };
  }
  const replica = createReplica(model, plan, layout);
  const reduced = allocateSum(leafLength);
  const slotBytes = () => Object.values(replica.optimizer.state).reduce((sum, { byteLength }) => sum + byteLength, 0);
  const step = async () => {
    await generation.allReduce(local, reduced, 0, replica.finishedSteps);
    applyStep(replica, reduced, model, plan, layout);
  };
  if (microshards < mesh.worldSize) throw new RangeError(`${microshards} microshards are too few`);
  return { refill, replica, slotBytes, step, generation };
}

async function measure(stepper: Awaited<ReturnType<typeof createStepper>>, { steps }: Task): Promise<Measured> {
  const sentBefore = stepper.generation.traffic.bytesSent;
  let milliseconds = 0;
  let cpuMicroseconds = 0;
  for (let i = 0; i < steps; i += 1) {
    stepper.refill();
    const cpu = process.cpuUsage();
    const start = performance.now();
    await stepper.step();
    milliseconds += performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    cpuMicroseconds += user + system;
  }
  const { weights } = stepper.replica;
  return {
    seconds: milliseconds / 1e3,
    cpuSeconds: cpuMicroseconds / 1e6,
    slotBytes: stepper.slotBytes(),
    rssBytes: process.memoryUsage.rss(),
    bytesSent: stepper.generation.traffic.bytesSent - sentBefore,
    checksum: new Int32Array(weights.buffer, weights.byteOffset, weights.length).reduce(
      (sum, bits) => (sum * 31 + bits) | 0,
      0,
    ),
  };
}

async function main(): Promise<void> {
  const setup = JSON.parse(process.argv[2]!) as Setup;
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 60_000 });
  say({ port: listener.port });
  let stepper: Awaited<ReturnType<typeof createStepper>> | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    if (stepper) {
      say(await measure(stepper, JSON.parse(line) as Task));
      continue;
    }
    const { rank, ports } = JSON.parse(line) as Start;
    const head = headOf(ports);
    const mesh = await openMesh(listener, rank, head.members, {
      token: head.token,
      microshards: setup.microshards,
      timing: { ...defaultCollectiveTiming, connectMs: 60_000, silenceMs: 60_000 },
    });
    stepper = await createStepper(setup, mesh, head);
    say({});
  }
}

runChild(main);
