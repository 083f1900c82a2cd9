import { displayedStatus, timesOf, workedUntil, workMs } from "../../../core/runs/run";

it.each([
  ["queued", undefined, "queued"],
  ["running", "LaunchTraining", "running"],
  ["running", "AwaitApproval", "awaiting approval"],
  ["running", "Promote", "running"],
  ["completed", "AwaitApproval", "completed"],
  ["killed", "AwaitApproval", "killed"],
] as const)("a run that is %s in phase %s is shown as %s", (status, phase, shown) => {
  expect(displayedStatus({ status, phase })).toBe(shown);
});

describe("the time that a run took", () => {
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const now = Date.parse(at(60));
  const run = { status: "running", phase: "LaunchTraining", createdAt: at(0), updatedAt: at(1) } as const;
  it.each([
    ["grows while it trains", run, 60],
    ["ends where it pauses", { ...run, status: "paused", pausedAt: at(5) }, 5],
    ["ends where it waits for an approval", { ...run, phase: "AwaitApproval", awaitingSince: at(7) }, 7],
    ["of a waiting run of an earlier version", { ...run, phase: "AwaitApproval", updatedAt: at(8) }, 8],
    [
      "does not count the wait before its promotion",
      { ...run, status: "completed", phase: "Promote", awaitingSince: at(7), endedAt: at(50) },
      7,
    ],
    ["is the whole of a run that never waited", { ...run, status: "failed", endedAt: at(9) }, 9],
  ] as const)("%s", (_case, given, minutes) => {
    expect(workMs(timesOf(given), workedUntil(given, now))).toBe(minutes * 60_000);
  });
});
