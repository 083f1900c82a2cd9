import { runHostWorkers, worstOf } from "../../../trainer-container/host/host-workers";
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
