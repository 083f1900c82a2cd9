import { timesOf, workedUntil, workMs } from "../../../core/runs/run";

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
