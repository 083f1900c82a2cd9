import {
  defaultRendezvousTiming,
  readHeadMs,
  reportsLoss,
  timingOf,
  wholeLookMs,
  withSurvivorCall,
} from "../../../trainer-container/gang/timing";

const timing = { ...defaultRendezvousTiming, monitorMs: 1_000 };

describe("the timing of a large gang", () => {
  it("leaves small gangs as they are", () => {
    expect(timingOf(timing, 64)).toBe(timing);
  });

  it("grows with the workers, where it would overload the store", () => {
    expect(timingOf(timing, 65)).toEqual(timing);
    expect(timingOf(timing, 1_000)).toEqual({
      ...timing,
      renewMs: 10_000,
      leaseMs: 30_000,
      firstCallMs: 5_000,
      survivorCallMs: 3_000,
      monitorMs: 2_000,
    });
  });
});

describe("reads of a large gang", () => {
  it.each([
    [0, 500],
    [3, 500],
    [4, 2_000],
    [7, 2_000],
    [8, 8_000],
    [15, 8_000],
    [16, 32_000],
  ])("of the member in place %i come every %i ms where there are a thousand", (position, ms) => {
    expect(wholeLookMs(position, 1_000)).toBe(ms);
  });

  it.each([100, 1_000])("and reads of the head by all %i need less than a partition's capacity", (workers) => {
    let units = 0;
    for (let position = 0; position < workers; position++) {
      units += (1_000 / wholeLookMs(position, workers)) * (workers / 10) + (1_000 / readHeadMs(workers)) * 2;
    }
    expect(units).toBeLessThan(2_500);
  });
});

describe("a loss", () => {
  it("is reported by all in a small gang", () => {
    for (let rank = 1; rank < 64; rank++) expect(reportsLoss(rank, 0, 64, timing)).toBe(true);
  });

  it("is reported by the eight ranks after it in a large gang, also past the last rank", () => {
    const reporters = Array.from({ length: 1_000 }, (_, rank) => rank).filter((rank) =>
      reportsLoss(rank, 996, 1_000, timing),
    );
    expect(reporters.filter((rank) => rank !== 996)).toEqual([0, 1, 2, 3, 4, 997, 998, 999]);
  });
});

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
