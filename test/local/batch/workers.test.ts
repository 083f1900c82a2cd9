import { writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../support/temporary-folder";
import { useBatchCloud } from "./cloud";

const cloud = useBatchCloud({ vcpus: 2 });
const directory = temporaryFolder("workers");
beforeAll(async () => {
  const container = { image: "sh", command: ["true"], vcpus: 1, memory: 4 };
  const nodeProperties = { numNodes: 3, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:", container }] };
  await cloud.define({ jobDefinitionName: "nodes", type: "multinode", nodeProperties });
});

const until = (name: string) => `while [ ! -e ${directory}/${name} ]; do sleep 0.02; done`;
const release = (name: string) => writeFileSync(path.join(directory, name), "");
const array = (size: number, name: string) => cloud.submit(until(name), { arrayProperties: { size } });
const statusOf = async (id: string) => (await cloud.job(id)).status;
/** Waits until the dispatch after the latest change is over: a later job of the other queue is placed after it. */
const settled = () => new Promise((tick) => setTimeout(tick, 50));

describe("a machine with two workers", () => {
  it("queues the third job, of whatever queue, and says why", async () => {
    const [first, second] = [await cloud.submit(until("a")), await cloud.submit(until("b"), { jobQueue: "spot" })];
    for (const id of [first, second]) await cloud.until(id, "RUNNING");
    const third = await cloud.submit("true", { jobQueue: "spot" });
    await settled();
    expect(await cloud.job(third)).toMatchObject({
      status: "RUNNABLE",
      statusReason: "WORKERS_BUSY: 2 vCPUs run workers at once on this machine",
    });
    release("a");
    expect(await cloud.ended(third)).toMatchObject({ status: "SUCCEEDED" });
    release("b");
    await cloud.ended(second);
  });

  it("starts the workers of an array together: of two gangs none holds a half", async () => {
    const [one, other] = [await array(2, "one"), await array(2, "other")];
    for (const child of [0, 1]) await cloud.until(`${one}:${child}`, "RUNNING");
    await settled();
    expect(await Promise.all([0, 1].map((child) => statusOf(`${other}:${child}`)))).toEqual(["RUNNABLE", "RUNNABLE"]);
    release("one");
    for (const child of [0, 1]) await cloud.until(`${other}:${child}`, "RUNNING");
    release("other");
    expect(await cloud.ended(other)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("lets a larger gang run alone, in its turn, and keeps the place of a worker that is started again", async () => {
    const small = await cloud.submit(until("small"));
    await cloud.until(small, "RUNNING");
    const retried = `if [ $AWS_BATCH_JOB_ARRAY_INDEX = 2 ] && [ $AWS_BATCH_JOB_ATTEMPT = 1 ]; then exit 1; fi`;
    const large = await cloud.submit(`${retried}; ${until("large")}`, {
      ...{ arrayProperties: { size: 3 }, retryStrategy: { attempts: 2 } },
    });
    const later = await cloud.submit(until("later"));
    await settled();
    expect([await statusOf(`${large}:0`), await statusOf(later)]).toEqual(["RUNNABLE", "RUNNABLE"]);
    release("small");
    for (const child of [0, 1]) await cloud.until(`${large}:${child}`, "RUNNING");
    while ((await cloud.job(`${large}:2`)).attempts?.length !== 1) await settled();
    await cloud.until(`${large}:2`, "RUNNING");
    expect(await statusOf(later)).toBe("RUNNABLE");
    release("large");
    expect(await cloud.ended(large)).toMatchObject({ status: "SUCCEEDED" });
    await cloud.until(later, "RUNNING");
    const nodes = await cloud.submit("", { jobDefinition: "nodes" });
    await settled();
    expect(await statusOf(nodes)).toBe("RUNNABLE");
    release("later");
    expect(await cloud.ended(nodes)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("continues after a restart: a started array restarts as a whole, a queued one stays queued and can be ended", async () => {
    const retryStrategy = { attempts: 3 };
    const started = await cloud.submit(until("started"), { arrayProperties: { size: 2 }, retryStrategy });
    for (const child of [0, 1]) await cloud.until(`${started}:${child}`, "RUNNING");
    const [queued, ended] = [await array(2, "queued"), await array(2, "never")];
    await cloud.stop();
    await cloud.start({ vcpus: 2 });
    for (const child of [0, 1]) await cloud.until(`${started}:${child}`, "RUNNING");
    expect(await statusOf(`${queued}:0`)).toBe("RUNNABLE");
    await cloud.client.terminateJob({ jobId: ended, reason: "enough" });
    expect(await cloud.ended(ended)).toMatchObject({ status: "FAILED" });
    release("started");
    expect(await cloud.ended(started)).toMatchObject({ status: "SUCCEEDED" });
    release("queued");
    expect(await cloud.ended(queued)).toMatchObject({ status: "SUCCEEDED" });
  });
});
