import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { createTable, rangeTable, type Subject, startEmbedded } from "../../local/dynamodb/harness";
import { type ToyTask, undisturbed } from "./toy-trainer";
import type { WorkerOptions } from "./worker";
import { WorkerProcess } from "./worker-process";

const timing = {
  firstCallMs: 3_000,
  survivorCallMs: 200,
  turnMs: 50,
  pollMs: 30,
  monitorMs: 100,
  idlePollMs: 100,
  silenceMs: 1_000,
  connectMs: 1_500,
  leaseMs: 2_000,
  renewMs: 500,
};

/** Workers as processes of their own, over the real store; what befalls them here befalls them on spot instances. */
describe("a gang of processes", () => {
  let directory: string;
  let subject: Subject;
  let table: string;
  let endpoint: string;
  let running: WorkerProcess[] = [];
  let gangs = 0;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "ringmaster-gang-"));
    buildSync({
      entryPoints: [join(__dirname, "worker.ts")],
      bundle: true,
      platform: "node",
      target: "node20",
      outfile: join(directory, "worker.js"),
    });
    subject = await startEmbedded();
    table = await createTable(subject.client, rangeTable("S"));
    const { protocol, hostname, port } = await subject.client.config.endpoint!();
    endpoint = `${protocol}//${hostname}:${port}`;
  });
  afterEach(async () => {
    for (const worker of running) worker.signal("SIGKILL");
    await Promise.all(running.map((worker) => worker.ended));
    running = [];
    gangs++;
  });
  afterAll(async () => {
    await subject.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function start(workerIndex: number, task: ToyTask, overrides: Partial<WorkerOptions> = {}): WorkerProcess {
    const worker = new WorkerProcess(join(directory, "worker.js"), {
      endpoint,
      table,
      gangId: `gang-${gangs}`,
      memberId: `job:${workerIndex}/1`,
      workerIndex,
      workers: 3,
      minWorkers: 1,
      task,
      timing,
      ...overrides,
    });
    running.push(worker);
    return worker;
  }

  it("loses one to SIGKILL, one to SIGSTOP, takes both back, and ends with the undisturbed bits", async () => {
    const task: ToyTask = { steps: 100_000, elements: 3_001, microshards: 8, stepMs: 10 };
    const [first, second, third] = [start(0, task), start(1, task), start(2, task)];

    await first.reached(({ finishedSteps, worldSize }) => worldSize === 3 && finishedSteps >= 15);
    second.signal("SIGKILL");
    const { finishedSteps: afterKill } = await first.reached(({ worldSize }) => worldSize === 2);

    const replacement = start(1, task, { memberId: "job:1/2" });
    const whole = await first.reached(({ finishedSteps, worldSize }) => worldSize === 3 && finishedSteps > afterKill);

    third.signal("SIGSTOP");
    const without = await first.reached(({ generation }) => generation > whole.generation);
    expect(without.worldSize).toBe(2);
    third.signal("SIGCONT");
    await first.reached(({ generation, worldSize }) => worldSize === 3 && generation > without.generation);
    first.signal("SIGUSR2");

    const outcomes = await Promise.all([first, third, replacement].map((worker) => worker.ended));
    const steps = outcomes[0]!.finishedSteps;
    const sha256 = undisturbed({ ...task, steps });
    for (const outcome of outcomes) expect(outcome).toMatchObject({ finishedSteps: steps, sha256, late: false });
    // Nobody went back: the steps of one replica only ever rise.
    const order = first.steps.map(({ finishedSteps }) => finishedSteps);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it("starts again with the processes that come, when all are killed", async () => {
    const task: ToyTask = { steps: 60, elements: 100, microshards: 8, stepMs: 10 };
    const before = [0, 1].map((i) => start(i, task, { workers: 2 }));
    await before[0]!.reached(({ finishedSteps }) => finishedSteps >= 10);
    for (const worker of before) worker.signal("SIGKILL");
    const after = [0, 1].map((i) => start(i, task, { workers: 2, memberId: `job:${i}/2` }));
    for (const outcome of await Promise.all(after.map((worker) => worker.ended))) {
      expect(outcome).toMatchObject({ finishedSteps: 60, sha256: undisturbed(task) });
    }
  });

  it("waits for a worker that computes long with its event loop blocked", async () => {
    const task: ToyTask = { steps: 20, elements: 100, microshards: 4, stepMs: 1 };
    const block = { beforeStep: 10, ms: timing.silenceMs * 2 };
    const workers = [start(0, task, { workers: 2 }), start(1, task, { workers: 2, block })];
    for (const outcome of await Promise.all(workers.map((worker) => worker.ended))) {
      expect(outcome).toMatchObject({ sha256: undisturbed(task), generations: 1 });
    }
  });
});
