import { RingmasterError } from "../../../core/errors";
import { type RegistrationOutput, registrationKind } from "../../../core/registry/model";
import { timesOf, workedUntil, workMs } from "../../../core/runs/run";
import { type Phase, phases } from "../../../core/runs/run-states";
import { outputOf, returnToEarlierStep, runStep, type StepDefinition, waysBack } from "../../../core/runs/step";
import { closeRunByConclusion } from "../../../core/training/conclusion";
import { stateMachineText } from "../../../state-machines/definition";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

interface State {
  readonly Next?: string;
  readonly Choices?: readonly { readonly Next: string }[];
  readonly Default?: string;
  readonly Catch?: readonly { readonly ErrorEquals: readonly string[]; readonly Next: string }[];
}

const { States } = JSON.parse(stateMachineText()) as { readonly States: Readonly<Record<string, State>> };
const isPhase = (name: string): name is Phase => (phases as readonly string[]).includes(name);
const order = (name: string) => (phases as readonly string[]).indexOf(name);

/** Catches of a run's states that lead from a phase to an earlier one. Approvals have no phases. */
const catchesBack = Object.entries(States).flatMap(([from, { Catch = [] }]) =>
  Catch.filter(({ Next }) => isPhase(from) && isPhase(Next) && order(Next) <= order(from)).flatMap(
    ({ ErrorEquals, Next }) => ErrorEquals.map((code) => ({ from, code, to: Next })),
  ),
);

describe("ways back to an earlier step", () => {
  it("are the state machine's and the record's alike", () => {
    const sorted = (ways: readonly { readonly from: string; readonly code: string; readonly to: string }[]) =>
      ways.map(({ from, code, to }) => `${from} ${code} ${to}`).sort();
    expect(sorted(catchesBack)).toEqual(sorted(waysBack));
    expect(catchesBack.length).toBeGreaterThan(0);
  });

  it.each(waysBack)("$from by $code comes before whatever catches all", ({ from, code }) => {
    const { Catch = [] } = States[from]!;
    const first = Catch.findIndex(({ ErrorEquals }) => ErrorEquals.includes("States.ALL"));
    expect(Catch.findIndex(({ ErrorEquals }) => ErrorEquals.includes(code))).toBeLessThan(first);
  });

  it("lead nowhere else: what follows upon a phase by itself is a later one, or none", () => {
    for (const [from, { Next, Default, Choices = [] }] of Object.entries(States)) {
      if (!isPhase(from)) continue;
      const following = [Next, Default, ...Choices.map((choice) => choice.Next)];
      for (const to of following) if (to !== undefined && isPhase(to)) expect(order(to)).toBeGreaterThan(order(from));
    }
  });

  it("are taken for an error that leads back, which is thrown on, and for no other", async () => {
    const taken: unknown[] = [];
    const runs = { goBack: async (...way: unknown[]) => void taken.push(way) };
    const ports = { runs, clock: { now: () => 0 } } as unknown as Parameters<typeof returnToEarlierStep>[0];
    const failing = (error: Error) => returnToEarlierStep(ports, "run-1", "Gate", () => Promise.reject(error));
    const changed = new RingmasterError("another is in production", { code: "CHAMPION_CHANGED", httpStatus: 409 });
    await expect(failing(changed)).rejects.toBe(changed);
    await expect(failing(new Error("another"))).rejects.toThrow("another");
    expect(taken).toEqual([["run-1", "Gate", "Evaluate", "1970-01-01T00:00:00.000Z"]]);
  });
});

describe("the time that a run took", () => {
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const now = Date.parse(at(60));
  const run = { status: "running", phase: "LaunchTraining", createdAt: at(0), updatedAt: at(1) } as const;
  it.each([
    ["grows while it trains", run, 60],
    ["ends where it pauses", { ...run, status: "paused", pausedAt: at(5) }, 5],
    ["ends with the run", { ...run, status: "failed", endedAt: at(9) }, 9],
  ] as const)("%s", (_case, given, minutes) => {
    expect(workMs(timesOf(given), workedUntil(given, now))).toBe(minutes * 60_000);
  });
});

describe("a step of a run", () => {
  const embedded = useEmbedded();
  let made = 0;

  const madeBy = (runId: string) => ({ model: `made by ${runId}`, version: 1 });

  function setUp() {
    const { platform } = createTestPlatform(embedded);
    let executions = 0;
    const step = (
      inputs: unknown,
      more: Partial<StepDefinition<RegistrationOutput>> = {},
    ): StepDefinition<RegistrationOutput> => ({
      ...registrationKind,
      version: 1,
      reusable: true,
      inputs: () => inputs,
      execute: async (run) => {
        executions += 1;
        return madeBy(run.runId);
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
    expect(await platform.runs.find(runId)).toMatchObject({ status: "running", phase: "Register" });
  });

  it("equal inputs reuse another run's output and say whose it is; other inputs do not", async () => {
    const { platform, step, newRun, executions } = setUp();
    const [a, b, c] = [await newRun(), await newRun(), await newRun()];
    await runStep(platform, a, step({ x: 1, y: 2 }));
    expect(await runStep(platform, b, step({ y: 2, x: 1 }))).toMatchObject({ output: madeBy(a), reusedFrom: a });
    expect(await runStep(platform, c, step({ x: 1, y: 3 }))).toMatchObject({ output: madeBy(c) });
    expect(executions()).toBe(2);
    expect((await platform.runs.findDetails(b))!.steps).toMatchObject([{ step: "Register", reusedFrom: a }]);
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
    expect(await runStep(platform, b, step("fresh"))).toMatchObject({ output: madeBy(b) });
    expect(await runStep(platform, c, step("fresh"))).toMatchObject({ reusedFrom: a });
    expect(executions()).toBe(2);
  });

  it("makes an output again that cannot be read, its own or another run's, and reuses the new one", async () => {
    const { platform, step, newRun, executions } = setUp();
    const [a, b] = [await newRun(), await newRun()];
    const { inputHash } = await runStep(platform, a, step("damaged"));
    const record = { step: "Register", inputHash, output: { model: 7 }, startedAt: "", finishedAt: "" } as const;
    await platform.runs.recordStep(a, record);
    const cache = { ...platform.cache, find: async () => ({ runId: a, output: "damaged", at: "" }) };
    expect(await runStep({ ...platform, cache }, a, step("damaged"))).toMatchObject({ output: madeBy(a) });
    expect(await runStep({ ...platform, cache }, b, step("damaged"))).toMatchObject({ output: madeBy(b) });
    expect(executions()).toBe(3);
    await runStep(platform, a, step("damaged"));
    expect(executions()).toBe(3);
  });

  it("ends its run with the reason where an earlier step's record cannot be read", async () => {
    const { platform, newRun } = setUp();
    const runId = await newRun();
    const record = { step: "Register", inputHash: "h", output: { model: 7 }, startedAt: "", finishedAt: "" } as const;
    await platform.runs.recordStep(runId, record);
    const details = (await platform.runs.findDetails(runId))!;
    expect(details.steps).toEqual([]);
    expect(details.warnings).toMatchObject([{ code: "STEP_UNREADABLE" }]);
    expect((await platform.runs.list({ limit: 100 })).runs.map((run) => run.runId)).toContain(runId);
    const message = `the record of Register of run ${runId} cannot be read; submit the run again`;
    const refusal = expect.objectContaining({ code: "STEP_UNREADABLE", message });
    expect(() => outputOf(details, registrationKind)).toThrow(refusal);
    const error = { Error: "STEP_UNREADABLE", Cause: JSON.stringify({ errorMessage: message }) };
    await closeRunByConclusion(platform, runId, "failed", error);
    expect(await platform.runs.find(runId)).toMatchObject({
      status: "failed",
      failure: { code: "STEP_UNREADABLE", message },
    });
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
