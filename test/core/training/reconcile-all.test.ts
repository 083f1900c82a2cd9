import type { Measures } from "../../../core/metering/metrics";
import { sweepOutbox } from "../../../core/registry/outbox";
import { type ReconcileDependencies, reconcileAll, runLevels } from "../../../core/training/reconcile";
import { runOf } from "../../support/fixtures";

const running = (runId: string, more = {}) => runOf(runId, { status: "running", phase: "Evaluate", ...more });

describe("a minute's look at all open runs", () => {
  /** Runs whose execution is at work; those of a team named `broken` cannot be looked at. */
  function options(startedAt: number, millisecondsARun: number) {
    let now = startedAt;
    const emitted: { measures: Measures; team?: string }[] = [];
    const done: string[] = [];
    const failed: string[] = [];
    const forTeam = (team: string) =>
      ({
        clock: { now: () => now },
        executions: {
          status: async () => {
            now += millisecondsARun;
            if (team === "broken") throw new Error("AccessDenied");
            return "running";
          },
        },
        runs: { findDetails: async () => undefined },
      }) as unknown as ReconcileDependencies;
    return {
      emitted,
      done,
      failed,
      given: {
        forTeam,
        meter: {
          emit: (measures: Measures, team?: string) => void emitted.push({ measures, ...(team ? { team } : {}) }),
        },
        clock: { now: () => now },
        until: startedAt + 50_000,
        onDone: (runId: string) => void done.push(runId),
        onError: (runId: string) => void failed.push(runId),
      },
    };
  }

  it("reaches the others although one cannot be looked after, and says that there was one", async () => {
    const { given, done, failed, emitted } = options(0, 1);
    await reconcileAll([running("run-1"), running("run-2", { team: "broken" }), running("run-3")], given);
    expect([done.sort(), failed]).toEqual([["run-1", "run-3"], ["run-2"]]);
    expect(emitted.at(-1)).toEqual({ measures: { ReconcileErrors: 1 } });
  });

  it("is not prevented by the sweep of the outbox before it, whose failure is reported", async () => {
    const { given, failed } = options(0, 1);
    const index = { list: () => Promise.reject(new Error("ProvisionedThroughputExceeded")) };
    await sweepOutbox(index, { ...given, outboxOf: () => Promise.reject(new Error()) as never });
    expect(failed).toEqual(["the list of changed models"]);
  });

  it("stops in time, says how many it did not reach, and begins elsewhere the next minute", async () => {
    const open = Array.from({ length: 100 }, (_, i) => running(`run-${i}`));
    const seen = new Set<string>();
    for (let minute = 0; minute < 8; minute += 1) {
      const { given, done, emitted } = options(minute * 60_000, 1_000);
      await reconcileAll(open, given);
      expect(done.length).toBeLessThan(70);
      expect(emitted.at(-1)).toEqual({ measures: { ReconcileUnreached: 100 - done.length } });
      for (const runId of done) seen.add(runId);
    }
    expect(seen.size).toBe(100);
  });

  it("counts runs by team and state; those that have ended are not among them", () => {
    const levels = runLevels([
      runOf("run-1"),
      running("run-2"),
      running("run-3", { phase: "LaunchTraining", team: "vision" }),
      running("run-4", { phase: "Gate" }),
      runOf("run-5", { status: "killed", phase: "LaunchTraining" }),
    ]);
    expect(Object.fromEntries(levels)).toEqual({
      default: { RunsQueued: 1, RunsPreparing: 0, RunsTraining: 0, RunsConcluding: 2 },
      vision: { RunsQueued: 0, RunsPreparing: 0, RunsTraining: 1, RunsConcluding: 0 },
    });
  });
});
