import { runHostWorkers, trainInProcess, worstOf } from "../../../trainer-container/host/host-workers";
import { createInterruption } from "../../../trainer-container/host/interruption";

async function run(code: string, environment = {}, interruption = createInterruption()) {
  const lines: string[] = [];
  const exitCode = await runHostWorkers({
    environment: { PATH: process.env["PATH"], ...environment },
    ...{ count: 2, firstIndex: 4, interruption, pauseMs: 1, program: ["-e", code] },
    write: (line) => lines.push(line),
  });
  return { exitCode, lines: lines.sort() };
}

describe("the workers of a container", () => {
  const device = "console.log(process.env.CUDA_VISIBLE_DEVICES)";

  it("see one GPU each, and their output names them", async () => {
    const own = `${device}; console.error('{"message":"m","workerIndex":' + (4 + +process.env.RINGMASTER_HOST_WORKER) + "}")`;
    expect(await run(own, { CUDA_VISIBLE_DEVICES: "GPU-a,GPU-b" })).toEqual({
      exitCode: 0,
      lines: ["[worker 4] GPU-a", "[worker 5] GPU-b", ...[4, 5].map((i) => `{"message":"m","workerIndex":${i}}`)],
    });
    // AWS Batch shows a container only its own GPUs, by numbers.
    expect((await run(device)).lines).toEqual(["[worker 4] 0", "[worker 5] 1"]);
  });

  it("do not start if the container has fewer GPUs", async () => {
    await expect(run(device, { CUDA_VISIBLE_DEVICES: "GPU-a" })).rejects.toThrow(/GPU 1 was requested/);
  });

  const first = "process.env.RINGMASTER_HOST_WORKER === '0'";
  it.each([
    [
      "that is killed starts again",
      `if (${first} && process.env.RINGMASTER_HOST_START === "1") process.kill(process.pid, "SIGKILL")`,
      0,
      1,
    ],
    ["that is lost each time starts three times", `process.exit(${first} ? 75 : 0)`, 75, 2],
    ["that recorded a failure does not start again, and the container fails", `process.exit(${first} ? 1 : 0)`, 1, 0],
  ])("one %s", async (_name, code, exitCode, restarts) => {
    const ended = await run(code);
    expect([ended.exitCode, ended.lines.length]).toEqual([exitCode, restarts]);
  });

  it("all get SIGTERM, and none starts again afterwards", async () => {
    const interruption = createInterruption();
    setTimeout(() => interruption.raise("SIGTERM"), 500);
    const waits = `process.on("SIGTERM", () => process.exit(75)); setTimeout(() => {}, 60_000)`;
    expect(await run(waits, {}, interruption)).toEqual({ exitCode: 75, lines: [] });
  });
});

it.each([
  [[0, 0], 0],
  [[0, 75, 137], 75],
  [[75, 1, 0], 1],
  [[137, 139], 139],
  [[137, 133], 133],
])("the worst of the exit codes %j is %d", (codes, worst) => expect(worstOf(codes)).toBe(worst));

const runCode = (code: string, interruption = createInterruption(), environment = {}) =>
  trainInProcess({ ...process.env, ...environment }, interruption, ["-e", code]);

describe("a training in a process of its own", () => {
  it("has its run's environment, without the job's mode, and returns its exit code", async () => {
    const code = `process.exit(process.env.RINGMASTER_RUN_ID === "run-7" && !process.env.RINGMASTER_SHARED_JOB ? 3 : 4)`;
    const environment = { RINGMASTER_RUN_ID: "run-7", RINGMASTER_SHARED_JOB: "processes" };
    expect(await runCode(code, undefined, environment)).toBe(3);
  });

  it("that a signal ends returns the signal's code", async () => {
    expect(await runCode(`process.kill(process.pid, "SIGKILL")`)).toBe(137);
  });

  it("gets the host's notice as SIGTERM, and returns what it then exits with", async () => {
    const interruption = createInterruption();
    setTimeout(() => interruption.raise("spot notice"), 500);
    expect(
      await runCode(`process.on("SIGTERM", () => process.exit(75)); setTimeout(() => {}, 60_000)`, interruption),
    ).toBe(75);
  });

  it("is started again by Batch if the notice ends it before it can handle the signal", async () => {
    const interruption = createInterruption();
    interruption.raise("spot notice");
    expect(await runCode("setTimeout(() => {}, 60_000)", interruption)).toBe(75);
  });
});
