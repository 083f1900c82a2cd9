import { createLiveRuns } from "../../../../core/tracking/records/live-runs";

it("believes for a second that a run is active, and forgets one that is not", () => {
  let now = 10_000;
  const live = createLiveRuns({ now: () => now });
  expect(live.isLive("a")).toBe(false);
  live.note({ runId: "a", lifecycle: "active" });
  live.note({ runId: "b", lifecycle: "active" });
  expect([live.isLive("a"), live.isLive("b")]).toEqual([true, true]);
  live.note({ runId: "b", lifecycle: "deleted" });
  now += 999;
  expect([live.isLive("a"), live.isLive("b")]).toEqual([true, false]);
  now += 1;
  expect(live.isLive("a")).toBe(false);
});
