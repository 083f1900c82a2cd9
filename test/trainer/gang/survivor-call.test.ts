import { defaultRendezvousTiming, withSurvivorCall } from "../../../trainer-container/gang/timing";

describe("withSurvivorCall", () => {
  it.each([
    { name: "short micro-batches, a near store", pace: { storeMs: 5, microBatchMs: 20 }, ms: 300 },
    { name: "nothing measured", pace: { storeMs: 0, microBatchMs: 0 }, ms: 300 },
    { name: "long micro-batches", pace: { storeMs: 10, microBatchMs: 700 }, ms: 1_440 },
    { name: "a slow store", pace: { storeMs: 400, microBatchMs: 0 }, ms: 1_600 },
    { name: "micro-batches longer than a place is held for", pace: { storeMs: 0, microBatchMs: 60_000 }, ms: 20_000 },
  ])("is $ms ms for $name", ({ pace, ms }) => {
    expect(withSurvivorCall(defaultRendezvousTiming, pace)).toEqual({ ...defaultRendezvousTiming, survivorCallMs: ms });
  });

  it("is never shorter than what a large gang needs", () => {
    const largeGang = { ...defaultRendezvousTiming, survivorCallMs: 3_000 };
    expect(withSurvivorCall(largeGang, { storeMs: 10, microBatchMs: 100 }).survivorCallMs).toBe(3_000);
  });
});
