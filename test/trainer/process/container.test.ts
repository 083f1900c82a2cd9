import path from "node:path";
import { objectKeys } from "../../../core/object-keys";
import { tarFiles } from "../../../core/tar";
import { isRunning } from "../../e2e/harness";
import { buildTrainer } from "./build";
import { expectEnd, TrainerFleet } from "./fleet";
import { readResult, storeDataset, storeTask } from "./task";
import type { TrainerProcess } from "./trainer-process";

const script = path.join(__dirname, "../../support/steps.js");

describe("the command of a container", () => {
  const built = buildTrainer();
  let fleet: TrainerFleet;
  let dataset: Awaited<ReturnType<typeof storeDataset>>;
  const model = { type: "container" as const, command: ["node", script], env: {}, data: "csv" as const, options: {} };

  beforeAll(async () => {
    fleet = await TrainerFleet.start(built.nodeArguments);
    dataset = await storeDataset(fleet.cloud.store);
  });
  afterAll(() => fleet.stop());

  async function task(runId: string, workers: number): Promise<void> {
    await fleet.cloud.store.put(objectKeys.trainingDataset(runId), JSON.stringify(dataset));
    await storeTask(fleet.cloud.store, runId, { model, workers });
  }
  /** Waits for a line of the command. */
  async function line({ errors, transcript }: TrainerProcess, pattern: RegExp): Promise<RegExpExecArray> {
    for (let waited = 0; waited < 30_000; waited += 10) {
      const found = errors.map((text) => pattern.exec(text)).find((match) => match !== null);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`no line ${pattern}\n${transcript()}`);
  }
  async function expectComplete(runId: string): Promise<void> {
    const { weights, files } = await readResult(fleet.cloud.store, runId);
    const key = `runs/${runId}/training/files/${weights.sha256}`;
    const [file] = [...tarFiles(await fleet.cloud.store.get(key))];
    expect([file!.path, Buffer.from(file!.body).toString()]).toEqual(["model.txt", "60"]);
    expect(files).toHaveLength(1);
  }

  it("continues from its checkpoint with one worker after the other is killed, whose command ends too", async () => {
    await task("survivor", 2);
    const [first, second] = [fleet.start("survivor", 0, 0), fleet.start("survivor", 0, 1)];
    const [, pid] = await line(second, /^pid (\d+) rank \d of 2 from 0/);
    await Promise.all([line(first, /^step 20$/), line(second, /^step 20$/)]);
    const killed = second.errors.some((text) => / rank 1 /.test(text)) ? second : first;
    const other = killed === second ? first : second;
    killed.signal("SIGKILL");
    const [, from] = await line(other, /rank 0 of 1 from (\d+)/);
    expect(Number(from)).toBeGreaterThanOrEqual(19);
    await expectEnd(other);
    if (killed === second) expect(isRunning(Number(pid))).toBe(false);
    await expectComplete("survivor");
  }, 60_000);

  it("continues in a new worker from what the killed rank 0 had stored", async () => {
    await task("replaced", 1);
    const first = fleet.start("replaced", 0, 0);
    await line(first, /^step 40$/);
    first.signal("SIGKILL");
    const second = fleet.start("replaced", 0, 0, 2);
    const [, from] = await line(second, /rank 0 of 1 from (\d+)/);
    expect(Number(from)).toBeGreaterThan(5);
    await expectEnd(second);
    await expectComplete("replaced");
  }, 60_000);

  it("sees a notice as SIGTERM and as a file, and loses no step", async () => {
    await task("notice", 1);
    const first = fleet.start("notice", 0, 0);
    await line(first, /^step 10$/);
    first.signal("SIGTERM");
    const [, at] = await line(first, /^stopped at (\d+) by SIGTERM/);
    expect(await first.ended).toBe(75);
    const second = fleet.start("notice", 0, 0, 2);
    const [, from] = await line(second, /rank 0 of 1 from (\d+)/);
    expect(from).toBe(at);
    await expectEnd(second);
    await expectComplete("notice");
  }, 60_000);

  it("is restarted with two ranks when a second worker joins", async () => {
    await task("joined", 2);
    const first = fleet.start("joined", 0, 0);
    await line(first, /rank 0 of 1 from 0/);
    const second = fleet.start("joined", 0, 1);
    const [, from] = await line(second, /rank 1 of 2 from (\d+)/);
    expect(Number(from)).toBeGreaterThan(0);
    await expectEnd(first, second);
    await expectComplete("joined");
  }, 60_000);
});
