import { trainInProcess } from "../../../trainer-container/host/host-workers";
import { createInterruption } from "../../../trainer-container/host/interruption";

const run = (code: string, interruption = createInterruption(), environment = {}) =>
  trainInProcess({ ...process.env, ...environment }, interruption, ["-e", code]);

describe("a training in a process of its own", () => {
  it("has its run's environment, without the job's mode, and returns its exit code", async () => {
    const code = `process.exit(process.env.RINGMASTER_RUN_ID === "run-7" && !process.env.RINGMASTER_SHARED_JOB ? 3 : 4)`;
    const environment = { RINGMASTER_RUN_ID: "run-7", RINGMASTER_SHARED_JOB: "processes" };
    expect(await run(code, undefined, environment)).toBe(3);
  });

  it("that a signal ends returns the signal's code", async () => {
    expect(await run(`process.kill(process.pid, "SIGKILL")`)).toBe(137);
  });

  it("gets the host's notice as SIGTERM, and returns what it then exits with", async () => {
    const interruption = createInterruption();
    setTimeout(() => interruption.raise("spot notice"), 500);
    expect(await run(`process.on("SIGTERM", () => process.exit(75)); setTimeout(() => {}, 60_000)`, interruption)).toBe(
      75,
    );
  });

  it("is started again by Batch if the notice ends it before it can handle the signal", async () => {
    const interruption = createInterruption();
    interruption.raise("spot notice");
    expect(await run("setTimeout(() => {}, 60_000)", interruption)).toBe(75);
  });
});
