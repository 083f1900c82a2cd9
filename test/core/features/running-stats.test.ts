import { RunningStats } from "../../../core/features/running-stats";

describe("RunningStats", () => {
  it("gives mean and population deviation", () => {
    // Mean 5; squared differences 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; 32 / 8 = 4.
    const stats = new RunningStats();
    for (const value of [2, 4, 4, 4, 5, 5, 7, 9]) stats.add(value);
    expect([stats.mean, stats.deviation, stats.count]).toEqual([5, 2, 8]);
  });

  it("merges parts", () => {
    const stats = new RunningStats();
    stats.addAll([0, 2, 4, 4, 0], 1, 3);
    stats.add(4);
    stats.addAll(Float32Array.from([5, 5, 7, 9]), 0, 4);
    expect(stats.mean).toBeCloseTo(5, 14);
    expect(stats.deviation).toBeCloseTo(2, 14);
  });

  it("keeps its precision far from zero", () => {
    const stats = new RunningStats();
    for (const value of [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]) stats.add(value);
    // Differences from the mean: -6, -3, 3, 6; 90 / 4 = 22.5.
    expect(stats.deviation).toBeCloseTo(Math.sqrt(22.5), 8);
  });

  it.each([
    ["nothing", []],
    ["a constant", [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]],
    ["zeros", [0, 0]],
  ])("divides %s by 1", (_case, values) => {
    const stats = new RunningStats();
    for (const value of values) stats.add(value);
    expect(stats.deviation).toBe(1);
  });
});
