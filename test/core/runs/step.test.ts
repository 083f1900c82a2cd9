import { runStep, type StepDefinition } from "../../../core/runs/step";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

describe("a step of a run", () => {
  let embedded: Embedded;
  let made = 0;
  beforeAll(async () => {
    embedded = await startEmbedded();
  });
  afterAll(() => embedded.stop());

  function setUp() {
    const { platform } = createTestPlatform(embedded);
    let executions = 0;
    const step = (inputs: unknown, more: Partial<StepDefinition<string>> = {}): StepDefinition<string> => ({
      step: "Evaluate",
      version: 1,
      reusable: true,
      inputs: () => inputs,
      execute: async (run) => {
        executions += 1;
        return `made by ${run.runId}`;
      },
      ...more,
    });
    const newRun = async (more = {}) => {
      const runId = `run-s${++made}`;
      await platform.runs.create(runOf(runId, more));
      return runId;
    };
    return { platform, step, newRun, executions: () => executions };
  }

  it("computes once: invoked again it finds its own output", async () => {
    const { platform, step, newRun, executions } = setUp();
    const runId = await newRun();
    const first = await runStep(platform, runId, step("once"));
    const again = await runStep(platform, runId, step("once"));
    expect(again).toEqual(first);
    expect(first.reusedFrom).toBeUndefined();
    expect(executions()).toBe(1);
    expect(await platform.runs.find(runId)).toMatchObject({ status: "running", phase: "Evaluate" });
  });

  it("equal inputs reuse another run's output and say whose it is; other inputs do not", async () => {
    const { platform, step, newRun, executions } = setUp();
    const [a, b, c] = [await newRun(), await newRun(), await newRun()];
    await runStep(platform, a, step({ x: 1, y: 2 }));
    expect(await runStep(platform, b, step({ y: 2, x: 1 }))).toMatchObject({ output: `made by ${a}`, reusedFrom: a });
    expect(await runStep(platform, c, step({ x: 1, y: 3 }))).toMatchObject({ output: `made by ${c}` });
    expect(executions()).toBe(2);
    expect((await platform.runs.findDetails(b))!.steps).toMatchObject([{ step: "Evaluate", reusedFrom: a }]);
  });

  it("new code is new inputs", async () => {
    const { platform, step, newRun, executions } = setUp();
    await runStep(platform, await newRun(), step("versioned"));
    await runStep(platform, await newRun(), step("versioned", { version: 2 }));
    expect(executions()).toBe(2);
  });

  it("without cache it computes again, keeps the run's own output, and leaves the first one to others", async () => {
    const { platform, step, newRun, executions } = setUp();
    const [a, b, c] = [await newRun(), await newRun({ noCache: true }), await newRun()];
    await runStep(platform, a, step("fresh"));
    expect(await runStep(platform, b, step("fresh"))).toMatchObject({ output: `made by ${b}` });
    expect(await runStep(platform, c, step("fresh"))).toMatchObject({ reusedFrom: a });
    expect(executions()).toBe(2);
  });

  it("what looks at the changing world is done each time", async () => {
    const { platform, step, newRun, executions } = setUp();
    const runId = await newRun();
    await runStep(platform, runId, step("gate", { reusable: false }));
    await runStep(platform, runId, step("gate", { reusable: false }));
    expect(executions()).toBe(2);
  });

  it("a run that has ended does nothing more", async () => {
    const { platform, step, newRun, executions } = setUp();
    const runId = await newRun();
    await platform.runs.close(runId, { status: "killed", at: "2026-01-01T00:00:00.000Z" });
    await expect(runStep(platform, runId, step("late"))).rejects.toMatchObject({ code: "RUN_ENDED" });
    await expect(runStep(platform, "run-none", step("late"))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    expect(executions()).toBe(0);
  });
});
