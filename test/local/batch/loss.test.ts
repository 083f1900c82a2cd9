import { fork } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ManualClock } from "../../support/manual-clock";
import { bundle } from "../lambda/bundle";
import { alive, BatchCloud, pidOf } from "./cloud";

/** The program of a trainer on spot: it waits for its host's notice, then reports it. */
const watchNotice = `
const read = (file) => {
  try {
    return require("fs").readFileSync(process.env.RINGMASTER_HOST_DIRECTORY + "/" + file, "utf8");
  } catch {}
};
const until = async (file) => {
  while (read(file) === undefined) await new Promise((r) => setTimeout(r, 10));
  return read(file);
};
(async () => {
  console.log("machine: " + (await until("machine.json")));
  console.log("before: " + read("spot-notice.json"));
  console.log("notice: " + (await until("spot-notice.json")));
  setInterval(() => {}, 1000);
})();`;

const spotOnly = {
  attempts: 3,
  evaluateOnExit: [
    { onStatusReason: "Host EC2*", action: "RETRY" as const },
    { onReason: "*", action: "EXIT" as const },
  ],
};

describe("loss of hosts", () => {
  let cloud: BatchCloud;
  beforeEach(async () => {
    cloud = new BatchCloud();
    await cloud.start();
    await cloud.setUp();
  });
  afterEach(async () => {
    await cloud.stop();
    cloud.remove();
  });
  const written = async (jobId: string, start: string) => {
    for (;;) {
      const found = cloud.output(await cloud.job(jobId)).find((line) => line.startsWith(start));
      if (found) return found;
      await new Promise((tick) => setTimeout(tick, 10));
    }
  };

  it("sends a notice of a spot interruption, ends the host, and retries by the rules", async () => {
    const more = { jobDefinition: "node", jobQueue: "spot", retryStrategy: spotOnly };
    const script = `if (process.env.AWS_BATCH_JOB_ATTEMPT === "2") process.exit(0); ${watchNotice}`;
    const id = await cloud.submit(script, more);
    const running = await cloud.until(id, "RUNNING");
    await written(id, "before");
    const instance = `i-local-${pidOf(running)}`;
    await cloud.batch.interruptSpot(id);
    expect(JSON.parse((await written(id, "notice")).slice(8))).toEqual({
      action: "terminate",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    const [machine = "", before] = cloud.output(await cloud.job(id));
    expect(JSON.parse(machine.slice("machine: ".length))).toEqual({
      instanceId: instance,
      instanceType: "g5.xlarge",
      availabilityZone: "us-east-1a",
    });
    expect(before).toBe("before: undefined");
    expect(cloud.events).toContainEqual({
      source: "aws.ec2",
      detailType: "EC2 Spot Instance Interruption Warning",
      resources: [`arn:aws:ec2:us-east-1:000000000000:instance/${instance}`],
      detail: { "instance-id": instance, "instance-action": "terminate" },
    });
    const job = await cloud.ended(id);
    expect(job).toMatchObject({
      status: "SUCCEEDED",
      attempts: [{ statusReason: `Host EC2 (instance ${instance}) terminated.` }, { container: { exitCode: 0 } }],
    });
    expect(job.attempts![0]!.container?.exitCode).toBeUndefined();
    expect(alive(pidOf(running))).toBe(false);
    expect(readdirSync(join(cloud.directory, "data", "hosts"))).toEqual([]);
  });

  it("interrupts only existing spot hosts", async () => {
    const steady = await cloud.submit("sleep 60");
    await cloud.until(steady, "RUNNING");
    await expect(cloud.batch.interruptSpot(steady)).rejects.toThrow(/only spot hosts/);
    await expect(cloud.batch.interruptSpot("none")).rejects.toMatchObject({ code: "ClientException" });
  });

  it("a killed host process ends its container", async () => {
    const id = await cloud.submit("ps -o ppid= -p $$; sleep 60", { retryStrategy: spotOnly });
    const first = await cloud.until(id, "RUNNING");
    process.kill(Number(await written(id, "")), "SIGKILL");
    while (alive(pidOf(first))) await new Promise((tick) => setTimeout(tick, 5));
    while ((await cloud.job(id)).attempts?.length !== 1) await new Promise((tick) => setTimeout(tick, 5));
    expect((await cloud.job(id)).attempts![0]!.statusReason).toMatch(
      /^Host EC2 \(instance i-local-\d+\) terminated\.$/,
    );
  });

  it("survives its own stop: running jobs have lost their host, waiting jobs continue, and every end is published", async () => {
    const script = "if [ $AWS_BATCH_JOB_ATTEMPT = 1 ]; then sleep 60; fi";
    const running = await cloud.submit(script, { retryStrategy: spotOnly });
    const once = await cloud.submit("sleep 60");
    const array = await cloud.submit(script, { arrayProperties: { size: 2 }, retryStrategy: spotOnly });
    const container = { image: "sh", command: [script], vcpus: 1, memory: 4 };
    const nodeProperties = { numNodes: 2, mainNode: 1, nodeRangeProperties: [{ targetNodes: "0:", container }] };
    await cloud.define({ jobDefinitionName: "gang", type: "multinode", nodeProperties });
    const gang = await cloud.submit("", { jobDefinition: "gang", retryStrategy: spotOnly });
    const resourceRequirements = [{ type: "VCPU" as const, value: "64" }];
    const waiting = await cloud.submit("", { containerOverrides: { command: ["true"], resourceRequirements } });
    const up = [running, once, `${array}:0`, `${array}:1`, `${gang}#0`, `${gang}#1`];
    const pids = (await Promise.all(up.map((id) => cloud.until(id, "RUNNING")))).map(pidOf);
    await cloud.stop();
    expect(pids.filter(alive)).toEqual([]);
    await cloud.start();
    expect(await cloud.ended(running)).toMatchObject({
      status: "SUCCEEDED",
      attempts: [{ statusReason: `Host EC2 (instance i-local-${pids[0]}) terminated.` }, {}],
    });
    expect(await cloud.ended(once)).toMatchObject({
      status: "FAILED",
      statusReason: `Host EC2 (instance i-local-${pids[1]}) terminated.`,
    });
    expect(await cloud.ended(array)).toMatchObject({
      status: "SUCCEEDED",
      arrayProperties: { statusSummary: { SUCCEEDED: 2 } },
    });
    expect((await cloud.ended(waiting)).status).toBe("SUCCEEDED");
    expect(await cloud.ended(gang)).toMatchObject({ status: "SUCCEEDED", attempts: [{}, {}] });
    for (const id of [running, once, array, waiting, gang])
      expect(["SUCCEEDED", "FAILED"]).toContain(cloud.transitions(id).at(-1));
  });

  it("publishes after a restart the events that the bus had not accepted", async () => {
    await cloud.stop();
    const refuse = () => {
      throw new Error("the disk is full");
    };
    const complaints = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    await cloud.start({ events: { put: refuse } });
    const id = await cloud.submit("true");
    await cloud.ended(id);
    await cloud.stop();
    complaints.mockRestore();
    expect(cloud.transitions(id)).toEqual([]);
    await cloud.start();
    expect(cloud.transitions(id)).toEqual(["SUBMITTED", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED"]);
    await cloud.stop();
    await cloud.start();
    expect(cloud.transitions(id)).toHaveLength(5);
  });

  it("leaves no process behind when the stack is killed, and finds its jobs lost", async () => {
    await cloud.stop(); // A stack in another process takes over its data.
    const args = [join(cloud.directory, "data"), bundle("local/batch/host.ts", cloud.directory)];
    const env = { ...process.env, NODE_PATH: resolve("node_modules") };
    const stack = fork(bundle("test/local/batch/stack-fixture.ts", cloud.directory), args, { env });
    const port = await new Promise<number>((found) => stack.once("message", found));
    cloud.connect(port);
    const id = await cloud.submit("sleep 60 & wait");
    const pid = pidOf(await cloud.until(id, "RUNNING"));
    cloud.client.destroy();
    const gone = new Promise((done) => stack.once("exit", done));
    stack.kill("SIGKILL");
    await gone;
    while (alive(pid)) await new Promise((tick) => setTimeout(tick, 10));
    await cloud.start();
    expect(await cloud.ended(id)).toMatchObject({
      status: "FAILED",
      statusReason: `Host EC2 (instance i-local-${pid}) terminated.`,
    });
  });
});

describe("timeouts", () => {
  it("end an attempt that takes too long, without a retry", async () => {
    const cloud = new BatchCloud();
    const clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"));
    await cloud.start({ clock, graceMs: 30_000 });
    await cloud.setUp();
    const id = await cloud.submit("trap '' TERM; echo up; while :; do sleep 0.02; done", {
      timeout: { attemptDurationSeconds: 60 },
      retryStrategy: { attempts: 3 },
    });
    await cloud.until(id, "RUNNING");
    while (cloud.output(await cloud.job(id)).length === 0) await new Promise((tick) => setTimeout(tick, 5));
    clock.advance(60_000); // SIGTERM, which the job ignores.
    clock.advance(30_000); // SIGKILL.
    expect(await cloud.ended(id)).toMatchObject({
      status: "FAILED",
      statusReason: "Job attempt duration exceeded timeout",
      container: { exitCode: 137 },
      attempts: [{}],
      stoppedAt: Date.parse("2026-01-01T00:01:30Z"),
    });
    expect(clock.pending).toBe(0);
    await cloud.stop();
    cloud.remove();
  });
});
