import { EventEmitter } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type NetworkInterfaceInfo, tmpdir } from "node:os";
import { join } from "node:path";
import { CorruptObjectError, ObjectNotFoundError, StorageFullError } from "../../../core/object-documents";
import { readTrainerConfig as read } from "../../../platform/config";
import { containerOf } from "../../../platform/members";
import { BackendUnavailableError, ModelError } from "../../../trainer-container/engine/errors";
import { type Gang, GangCompletedError, type Generation } from "../../../trainer-container/gang/gang";
import { createEntrance, InterruptedWhileWaitingError } from "../../../trainer-container/host/dependencies";
import { classifyError, retry } from "../../../trainer-container/host/failure";
import { advertisedHost, readMachine, type SpotNotice, watchSpot } from "../../../trainer-container/host/host-files";
import { createInterruption, interruptOnSignals } from "../../../trainer-container/host/interruption";
import { TrainingHaltedError } from "../../../trainer-container/loop/errors";

const readTrainerConfig = (environment: Readonly<Record<string, string | undefined>>) =>
  read(environment, { hostname: "host", pid: 42, temporaryDirectory: "/tmp" });

describe("readTrainerConfig", () => {
  const least = {
    RINGMASTER_RUN_ID: "run-1",
    RINGMASTER_TEAM: "red",
    RINGMASTER_BUCKET: "b",
    RINGMASTER_TABLE_GANGS: "g",
  };

  it("takes worker and member from Batch's variables", () => {
    const array = { AWS_BATCH_JOB_ID: "job:3", AWS_BATCH_JOB_ATTEMPT: "2", AWS_BATCH_JOB_ARRAY_INDEX: "3" };
    expect(readTrainerConfig({ ...least, ...array })).toMatchObject({ workerIndex: 3, memberId: "job:3/2" });
    const node = { AWS_BATCH_JOB_ID: "job#1", AWS_BATCH_JOB_NODE_INDEX: "1" };
    expect(readTrainerConfig({ ...least, ...node })).toMatchObject({ workerIndex: 1, memberId: "job#1/1" });
    expect(readTrainerConfig(least)).toMatchObject({ workerIndex: 0, ingestFunction: undefined });
  });

  it("numbers the workers of a container with several, and each start of one", () => {
    const node = { AWS_BATCH_JOB_ID: "job#1", AWS_BATCH_JOB_ATTEMPT: "2", AWS_BATCH_JOB_NODE_INDEX: "1" };
    const container = { ...least, ...node, RINGMASTER_HOST_WORKERS: "4" };
    expect(readTrainerConfig(container)).toMatchObject({ workerIndex: 4, startsWorkers: 4, jobId: "job" });
    const worker = readTrainerConfig({ ...container, RINGMASTER_HOST_WORKER: "3", RINGMASTER_HOST_START: "2" });
    expect(worker).toMatchObject({ workerIndex: 7, memberId: "job#1.3/5", containerId: "job#1/2", jobId: "job" });
    expect(worker.startsWorkers).toBeUndefined();
    expect(containerOf(worker.memberId)).toBe(worker.containerId);
    expect(containerOf("job:3/2")).toBe("job:3/2");
  });

  it("names every problem at once", () => {
    const environment = { RINGMASTER_RUN_ID: "", RINGMASTER_TEAM: "../blue", AWS_BATCH_JOB_ARRAY_INDEX: "-1" };
    expect(() => readTrainerConfig(environment)).toThrow(
      /RINGMASTER_RUN_ID.*RINGMASTER_TEAM.*RINGMASTER_BUCKET.*RINGMASTER_TABLE_GANGS.*AWS_BATCH_JOB_ARRAY_INDEX/,
    );
  });
});

describe("advertisedHost", () => {
  const address = (text: string, more: Partial<NetworkInterfaceInfo> = {}) =>
    ({ address: text, family: "IPv4", internal: false, ...more }) as NetworkInterfaceInfo;

  it("is the first real IPv4 address", () => {
    const interfaces = {
      lo: [address("127.0.0.1", { internal: true })],
      docker0: [address("172.17.0.1")],
      "br-12ab": [address("172.18.0.1")],
      ens5: [address("fe80::1", { family: "IPv6" }), address("169.254.1.1"), address("10.0.0.7")],
      ens6: [address("10.0.0.8")],
    };
    expect(advertisedHost(interfaces)).toBe("10.0.0.7");
  });

  it("is the loopback where there is no network", () => {
    expect(advertisedHost({ lo: [address("127.0.0.1", { internal: true })] })).toBe("127.0.0.1");
  });
});

describe("classifyError", () => {
  const service = Object.assign(new Error("throttled"), { $metadata: { httpStatusCode: 503 } });
  const broken = new Error("m", { cause: { code: "ECONNRESET" } });
  it.each<[string, unknown, object]>([
    ["NaN", new TrainingHaltedError("NON_FINITE_LOSS", "m", 7), { code: "NON_FINITE_LOSS", step: 7, retryable: false }],
    ["a model that cannot be built", new ModelError("m"), { code: "USER_CODE", retryable: false }],
    ["no such backend", new BackendUnavailableError("m"), { code: "BACKEND_UNAVAILABLE", retryable: false }],
    ["damaged data", new CorruptObjectError("k", "a", "b"), { code: "CORRUPT_OBJECT", retryable: false }],
    ["missing data", new ObjectNotFoundError("k"), { code: "OBJECT_NOT_FOUND", retryable: false }],
    ["a bug", new TypeError("x is undefined"), { code: "TRAINER_ERROR", retryable: true }],
    ["a full store", new StorageFullError("k"), { kind: "try-again" }],
    ["a service that is away", service, { kind: "try-again" }],
    ["a broken connection below", broken, { kind: "try-again" }],
  ])("tells %s", (_, error, verdict) => {
    expect(classifyError(error)).toMatchObject(verdict);
  });
});

describe("an interruption", () => {
  it("is raised once, by the first signal; a listener is called once, at once if it comes late, not after its removal", () => {
    const called: string[] = [];
    const process = new EventEmitter();
    const interruption = createInterruption((reason) => called.push(reason));
    const stop = interruptOnSignals(interruption, process);
    const remove = interruption.onceRaised(() => called.push("removed"));
    interruption.onceRaised(() => called.push("early"));
    remove();
    expect(interruption.raised).toBe(false);
    process.emit("SIGTERM");
    process.emit("SIGINT");
    expect(interruption).toMatchObject({ raised: true, reason: "SIGTERM" });
    interruption.onceRaised(() => called.push("late"));
    expect([...called].sort()).toEqual(["SIGTERM", "early", "late"]);
    stop();
    expect(process.listenerCount("SIGTERM")).toBe(0);
  });
});

describe("createEntrance", () => {
  function gangThat(enter: (leave: Promise<string>) => Promise<Generation>) {
    const left: string[] = [];
    let depart: (reason: string) => void = () => undefined;
    const departed = new Promise<string>((resolve) => {
      depart = resolve;
    });
    const gang: Gang = {
      memberId: "m",
      enter: () => enter(departed),
      leave: async (reason) => {
        left.push(reason);
        depart(reason);
      },
    };
    return { gang, left };
  }
  const generation = { number: 1 } as Generation;

  it("passes generations through", async () => {
    const { gang, left } = gangThat(async () => generation);
    const interruption = createInterruption();
    expect(await createEntrance(gang, interruption)(0)).toBe(generation);
    interruption.raise("late");
    expect(left).toEqual([]); // inside a generation the step boundary decides
  });

  it("ends without a generation where the run is complete", async () => {
    const { gang } = gangThat(() => Promise.reject(new GangCompletedError("g")));
    expect(await createEntrance(gang, createInterruption())(0)).toBeUndefined();
  });

  it("gives up waiting when the host goes away", async () => {
    const { gang, left } = gangThat((departed) => departed.then(() => Promise.reject(new Error("has left"))));
    const interruption = createInterruption();
    const entering = createEntrance(gang, interruption)(0);
    interruption.raise("spot notice");
    await expect(entering).rejects.toThrow(InterruptedWhileWaitingError);
    expect(left).toEqual(["interrupted"]);
    await expect(createEntrance(gang, interruption)(0)).rejects.toThrow("spot notice");
  });
});

const notice = { action: "terminate", time: "2026-01-01T00:02:00Z" };
let directory: string;
function inFolder(): void {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "host-files-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
}

const publish = (file: string, content: string) => {
  writeFileSync(join(directory, "new"), content);
  renameSync(join(directory, "new"), join(directory, file));
};

describe("readMachine", () => {
  inFolder();
  it("adds the worker to the host's description", async () => {
    publish("machine.json", '{"instanceId":"i-0abc","instanceType":"g5.xlarge","availabilityZone":"eu-west-1b"}');
    expect(await readMachine(directory, "job:0/1")).toEqual({
      memberId: "job:0/1",
      instanceId: "i-0abc",
      instanceType: "g5.xlarge",
      availabilityZone: "eu-west-1b",
    });
  });

  it("knows no machine where the host has not described itself", async () => {
    expect(await readMachine(directory, "m")).toBeUndefined();
    expect(await readMachine(join(directory, "absent"), "m")).toBeUndefined();
    publish("machine.json", "");
    expect(await readMachine(directory, "m")).toBeUndefined();
  });
});

describe("watchSpot", () => {
  inFolder();
  it("reports a notice once, when it appears", async () => {
    const notices: SpotNotice[] = [];
    const { looked, stop } = watchSpot({ directory, intervalMs: 1, onNotice: (one) => notices.push(one) });
    await looked;
    expect(notices).toEqual([]);
    publish("spot-notice.json", JSON.stringify(notice));
    while (notices.length === 0) await new Promise((tick) => setTimeout(tick, 1));
    publish("spot-notice.json", JSON.stringify({ ...notice, time: "2026-01-01T00:03:00Z" }));
    await new Promise((tick) => setTimeout(tick, 10));
    expect(notices).toEqual([notice]);
    stop();
  });

  it("reports at its first look a notice that was there before", async () => {
    publish("spot-notice.json", JSON.stringify(notice));
    const notices: SpotNotice[] = [];
    await watchSpot({ directory, intervalMs: 60_000, onNotice: (one) => notices.push(one) }).looked;
    expect(notices).toEqual([notice]);
  });

  it("reports nothing once it is stopped", async () => {
    const notices: SpotNotice[] = [];
    const { looked, stop } = watchSpot({ directory, intervalMs: 1, onNotice: (one) => notices.push(one) });
    stop();
    publish("spot-notice.json", JSON.stringify(notice));
    await looked;
    await new Promise((tick) => setTimeout(tick, 10));
    expect(notices).toEqual([]);
  });
});

describe("retry", () => {
  it("gives the answer once there is one, and does not repeat what will fail again", async () => {
    const ignore = () => undefined;
    expect(await retry(async () => 42, ignore, createInterruption())).toBe(42);
    const bug = new TypeError("bug");
    await expect(retry(() => Promise.reject(bug), ignore, createInterruption())).rejects.toBe(bug);
  });

  it("stops where the host goes away", async () => {
    const full = new StorageFullError("k");
    const interruption = createInterruption();
    const failures: unknown[] = [];
    const note = (error: unknown) => void failures.push(error);
    const trying = retry(() => Promise.reject(full), note, interruption);
    setImmediate(() => interruption.raise("SIGTERM"));
    await expect(trying).rejects.toBe(full);
    expect(failures).toEqual([full]);
  });
});
