import { notableEventSchema } from "../../../core/notifications/shapes";
import type { Run, RunDetails } from "../../../core/runs/shapes";
import { runEnded } from "../../../core/training/run-ended";
import { runOf } from "../../support/fixtures";

const endedAt = "2026-01-01T00:02:00.500Z";
const none = { attempts: [], workers: [], machines: [], recoveries: [], warnings: [] };
const step = (name: "Evaluate" | "Register", output: object): RunDetails["steps"][number] => ({
  ...{ step: name, inputHash: "h", output, startedAt: endedAt, finishedAt: endedAt },
});
const detailsOf = (more: Partial<Run>, steps: RunDetails["steps"] = []): RunDetails => ({
  ...none,
  run: runOf("run-1", { endedAt, createdBy: "ada", ...more }),
  steps,
});

const evaluation = { report: { sha256: "a".repeat(64), bytes: 1 }, task: "balanced" };

describe("the event of a run's end", () => {
  it("has outcome, version, the test split's metrics and the duration, and can be sent as JSON", () => {
    const metrics = { accuracy: 0.9 };
    const outcome = {
      decision: "refused-by-gate",
      model: "digits",
      version: 3,
      reasons: ["accuracy 0.9 < 0.95"],
    } as const;
    const event = runEnded(detailsOf({ status: "completed", outcome }, [step("Evaluate", { ...evaluation, metrics })]));
    expect(event).toEqual({
      ...{ id: "run-ended-run-1", type: "run.completed", at: endedAt, team: "default", runId: "run-1" },
      ...{ experiment: "digits", model: "digits", version: 3, decision: "refused-by-gate", submittedBy: "ada" },
      ...{ reasons: ["accuracy 0.9 < 0.95"], metrics: { "test/accuracy": 0.9 }, durationSeconds: 120.5 },
    });
    expect(notableEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(JSON.parse(JSON.stringify(event)));
  });

  it("has the failure's code and phase, and of its message as much as a receiver wants", () => {
    const failure = { code: "USER_CODE", message: "x".repeat(10_000), phase: "LaunchTraining" } as const;
    const event = runEnded(
      detailsOf({ status: "failed", failure }, [step("Register", { model: "digits", version: 2 })]),
    );
    expect(event).toMatchObject({
      type: "run.failed",
      version: 2,
      failure: { code: "USER_CODE", phase: "LaunchTraining" },
    });
    expect(event?.failure?.message).toHaveLength(2_001);
  });

  it("is none while the run is open", () => {
    expect(runEnded(detailsOf({ status: "running", endedAt: undefined }))).toBeUndefined();
  });
});
