import { attemptRow, describeEnds, describeLosses, describeUsage } from "../../../cli/attempts";
import type { JobKind } from "../../../core/runs/run";
import type { AttemptUsage, TrainingAttempt, WorkerAttempt, WorkerRecord } from "../../../core/runs/shapes";
import { isLost, spansOfRows, totalUsage, usageOf } from "../../../core/runs/usage";

const reservation = { vcpusPerWorker: 4, memoryMbPerWorker: 8_192, gpusPerWorker: 0 };
const hour = 3_600_000;
const spot = { market: "spot", placement: "spread", workers: 2 } as const;
const onDemand = { market: "on-demand", placement: "spread", workers: 2 } as const;
const failed = (attempt: number, usage: AttemptUsage): TrainingAttempt => ({
  ...{ attempt, market: "spot", placement: "spread", workers: 1, status: "failed", startedAt: "", usage },
});
const machine = (memberId: string, instanceType: string) => ({ memberId, instanceType });

describe("what an attempt takes", () => {
  // c6i.2xlarge: 8 vCPUs, 16 GiB, 8 × $0.0425 = $0.34 an hour. Half of its vCPUs and half of its memory are reserved.
  it("is the part of the instance that is reserved, by its price in the market", () => {
    const spans = [
      { memberId: "j:0/1", startedAt: 0, stoppedAt: 2 * hour },
      { memberId: "j:1/1", startedAt: hour, stoppedAt: 2 * hour },
    ];
    const machines = [machine("j:0/1", "c6i.2xlarge"), machine("j:1/1", "c6i.2xlarge")];
    const usage = usageOf(onDemand, reservation, spans, machines, 9 * hour);
    expect(usage).toMatchObject({ workerSeconds: 10_800, gpuSeconds: 0, instanceTypes: ["c6i.2xlarge"] });
    expect(usage.estimatedUsd).toBeCloseTo(3 * 0.34 * 0.5, 9);
    expect(usage.pricesOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    // c6i on spot: 0.38 of that.
    expect(usageOf(spot, reservation, spans, machines, 0).estimatedUsd).toBeCloseTo(3 * 0.34 * 0.5 * 0.38, 9);
  });

  it("is the largest of the parts, and never more than the instance", () => {
    const spans = [{ memberId: "j/1", startedAt: 0, stoppedAt: hour }];
    // g5.12xlarge: 48 vCPUs, 192 GiB, 4 GPUs, $5.672. A quarter of the GPUs, but half of the memory.
    const half = { vcpusPerWorker: 4, memoryMbPerWorker: 96 * 1024, gpusPerWorker: 1 };
    const machines = [machine("j/1", "g5.12xlarge")];
    const usage = usageOf(onDemand, half, spans, machines, 0);
    expect(usage.estimatedUsd).toBeCloseTo(5.672 / 2, 6);
    expect(usage.gpuSeconds).toBe(3_600);
    const all = { ...half, memoryMbPerWorker: 999_999 };
    expect(usageOf(onDemand, all, spans, machines, 0).estimatedUsd).toBeCloseTo(5.672, 6);
  });

  // g5.12xlarge: 48 vCPUs, 192 GiB, 4 GPUs, $5.672. g5.xlarge: 4 vCPUs, 16 GiB, 1 GPU, $1.006. Spot is 0.43 of that. c6i.4xlarge: 16 × $0.0425 = $0.68.
  const cluster = { market: "on-demand", placement: "cluster", workers: 2 } as const;
  it.each<[string, JobKind, string, [vcpus: number, gib: number, gpus: number], number]>([
    ["a quarter for one GPU of four", onDemand, "g5.12xlarge", [4, 16, 1], 5.672 / 4],
    ["all of an instance with one GPU", onDemand, "g5.xlarge", [1, 2, 1], 1.006],
    ["a quarter of the spot price for one GPU of four", spot, "g5.12xlarge", [4, 16, 1], (5.672 * 0.43) / 4],
    ["half for half of the vCPUs and one GPU of four", onDemand, "g5.12xlarge", [24, 16, 1], 5.672 / 2],
    ["all of a node's instance with four GPUs, although it uses one", cluster, "g5.12xlarge", [4, 16, 1], 5.672],
    ["all of a node's instance without GPU", cluster, "c6i.4xlarge", [1, 2, 0], 0.68],
  ])("is %s", (_name, kind, type, [vcpusPerWorker, gib, gpusPerWorker], usdPerHour) => {
    const spans = [{ memberId: "j/1", startedAt: 0, stoppedAt: hour }];
    const reserved = { vcpusPerWorker, memoryMbPerWorker: gib * 1024, gpusPerWorker };
    const usage = usageOf(kind, reserved, spans, [machine("j/1", type)], 0);
    expect(usage.estimatedUsd).toBeCloseTo(usdPerHour, 9);
  });

  it("is the whole instance for a run that holds all of its GPUs, as one container or as eight", () => {
    // p5.48xlarge: 192 vCPUs, 2,048 GiB, 8 GPUs, $55.04.
    const reserved = { vcpusPerWorker: 8, memoryMbPerWorker: 65_536, gpusPerWorker: 1 };
    const eight = Array.from({ length: 8 }, (_, i) => ({ memberId: `j:${i}/1`, startedAt: 0, stoppedAt: hour }));
    const [first] = eight;
    const machines = eight.map(({ memberId }) => machine(memberId, "p5.48xlarge"));
    const apart = usageOf({ ...onDemand, workers: 8 }, reserved, eight, machines, 0);
    const whole = { ...onDemand, workers: 16, workersPerHost: 8 };
    const together = usageOf(whole, reserved, [{ ...first!, lost: true }], machines, 0);
    const node = usageOf({ ...whole, placement: "cluster" }, reserved, [first!], machines, 0);
    for (const { estimatedUsd, workerSeconds, gpuSeconds } of [apart, together, node]) {
      expect(estimatedUsd).toBeCloseTo(55.04, 6);
      expect([workerSeconds, gpuSeconds]).toEqual([28_800, 28_800]);
    }
    expect(together.workerLosses).toBe(8);
    // Half of a host's GPUs is half of its price, but a node of a cluster has no other jobs.
    const half = { ...onDemand, workers: 8, workersPerHost: 4 };
    expect(usageOf(half, reserved, [first!], machines, 0).estimatedUsd).toBeCloseTo(55.04 / 2, 6);
    const alone = usageOf({ ...half, placement: "cluster" }, reserved, [first!], machines, 0);
    expect(alone.estimatedUsd).toBeCloseTo(55.04, 6);
  });

  it("counts what runs until now, and a worker that could not say what it is as the others", () => {
    const spans = [
      { memberId: "j:0/1", startedAt: 0, stoppedAt: hour },
      { memberId: "j:1/1", startedAt: 0 },
    ];
    const usage = usageOf(onDemand, reservation, spans, [machine("j:0/1", "c6i.2xlarge")], hour);
    expect(usage.estimatedUsd).toBeCloseTo(2 * 0.34 * 0.5, 9);
  });

  it("has no cost where no price is known: not zero", () => {
    const spans = [{ memberId: "j/1", startedAt: 0, stoppedAt: 90_000 }];
    const usage = usageOf(spot, reservation, spans, [machine("j/1", "local")], 0);
    expect(usage).toEqual({ workerSeconds: 90, gpuSeconds: 0, instanceTypes: ["local"], workerLosses: 0 });
    const attempt = failed(1, usage);
    expect(attemptRow(attempt)).toEqual([1, "spot", "local", 1, "1m 30s", 0, "–", "failed", ""]);
    expect(describeUsage([attempt])).toBe("1m 30s (local, no cost)");
  });

  it("is described in one line for the run", () => {
    const usage = {
      workerSeconds: 7_500,
      gpuSeconds: 7_500,
      instanceTypes: ["g5.xlarge"],
      workerLosses: 2,
      estimatedUsd: 0.71,
      pricesOf: "2026-06-17",
    };
    const attempt = (n: number) => failed(n, usage);
    expect(totalUsage([attempt(1), attempt(2)])).toEqual({
      ...usage,
      workerSeconds: 15_000,
      gpuSeconds: 15_000,
      workerLosses: 4,
      estimatedUsd: 1.42,
    });
    expect(describeUsage([attempt(1), attempt(2)])).toBe(
      "4h 10m, GPU time 4h 10m (estimated $1.42 at prices of 2026-06-17)",
    );
  });
});

describe("spans of the rows that events leave", () => {
  const worker = (more: Partial<WorkerRecord>): WorkerRecord => ({
    workerIndex: 0,
    jobId: "j:0",
    attempt: 2,
    status: "RUNNING",
    attempts: [],
    ...more,
  });
  const span = { memberId: "j:0/1", startedAt: 5, stoppedAt: 7 };
  const second = { memberId: "j:0/2", startedAt: 9 };
  const [lost, completed] = [137, 0].map((exitCode) => ({ exitCode, startedAt: 5, stoppedAt: 7 }));
  it.each<[string, WorkerRecord, object[]]>([
    ["nothing of one that waits", worker({ status: "RUNNABLE" }), []],
    ["what runs", worker({ startedAt: 5 }), [{ memberId: "j:0/1", startedAt: 5 }]],
    ["what ended, and what runs", worker({ startedAt: 9, attempts: [lost!] }), [{ ...span, lost: true }, second]],
    ["the last start once at the end", worker({ status: "FAILED", startedAt: 5, attempts: [completed!] }), [span]],
    ["nothing of another attempt", worker({ attempt: 1, startedAt: 5 }), []],
  ])("have %s", (_name, row, expected) => {
    expect(spansOfRows([row], 2)).toEqual(expected);
  });
});

describe("worker losses", () => {
  it.each([
    ["completed", { exitCode: 0 }, false],
    ["recorded a failure", { exitCode: 1 }, false],
    ["requested a restart", { exitCode: 75 }, true],
    ["was killed", { exitCode: 137 }, true],
    ["lost its host before it had an exit code", { reason: "Host EC2 (instance i-1) terminated." }, true],
  ] as const)("a process that %s", (_case, ended, lost) => {
    expect(isLost(ended as WorkerAttempt)).toBe(lost);
  });

  it("are described with the times that training resumed, and with the longest pause that a survivor measured", () => {
    const usage = { workerSeconds: 9, gpuSeconds: 0, instanceTypes: [], workerLosses: 6 };
    const attempt = (n: number) => failed(n, usage);
    const recoveries = [
      { generation: 2, step: 5, seconds: 1.2 },
      { generation: 3, step: 9 },
    ];
    expect(describeLosses([attempt(1), attempt(2)], recoveries)).toBe(
      "12 (training resumed 2 times, longest pause 1.2 s)",
    );
    expect(describeLosses([attempt(1)], [recoveries[1]!])).toBe("6 (training resumed once)");
    expect(describeLosses([{ ...attempt(1), usage: { ...usage, workerLosses: 0 } }], [])).toBeUndefined();
  });
});

it("ends of a worker's processes are counted, not listed one by one", () => {
  const killed = Array.from({ length: 12 }, () => ({ exitCode: 137 }));
  expect(describeEnds([...killed, { reason: "Host EC2 (instance i-1) terminated." }, { exitCode: 0 }])).toBe(
    "12 × exit 137, Host EC2 (instance i-1) terminated., exit 0",
  );
  const different = Array.from({ length: 20 }, (_, i) => ({ reason: `Host EC2 (instance i-${i}) terminated.` }));
  expect(describeEnds(different)).toMatch(/, 17 other exits$/);
  expect(describeEnds([])).toBe("");
});
