import { measureFormation } from "../support/large-gang/formation";
import { goodputOf } from "../support/large-gang/goodput";
import { defaultLinks } from "../support/large-gang/links";
import { simulateSum } from "../support/large-gang/simulated-sum";
import { makeLeaves, referenceSum, sameBits } from "../trainer/collective/support";

describe("the simulated gang", () => {
  it.each([
    [8, "all look"],
    [80, "by turns"],
  ] as const)("of %i, %s, forms, and again after losses, in one generation each", async (workers, protocol) => {
    const lines = await measureFormation(workers, protocol, 7);
    expect(lines.map(({ event, generations }) => [event, generations])).toEqual([
      ["form", 1],
      ["lose 1", 1],
      ["lose 10 %", 1],
    ]);
    for (const { ms, store } of lines) {
      expect(ms).toBeGreaterThan(0);
      // Each member that enters registers and says so; nobody is let in without asking.
      expect(store.writeUnits).toBeGreaterThanOrEqual(2 * (workers - 1 - Math.max(1, workers / 10)));
      expect(store.throttles).toBe(0);
    }
  });

  it("is the same for the same seed, and another for another", async () => {
    const [first, again, other] = [
      await measureFormation(70, "by turns", 1),
      await measureFormation(70, "by turns", 1),
      await measureFormation(70, "by turns", 2),
    ];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it("asks less of the store by turns than where all look", async () => {
    const [all] = await measureFormation(100, "all look", 1);
    const [turns] = await measureFormation(100, "by turns", 1);
    expect(turns!.store.readUnits).toBeLessThan(all!.store.readUnits / 3);
  });
});

describe("the simulated sum", () => {
  it.each([
    [2, 2, "direct"],
    [5, 8, "direct"],
    [5, 8, "halving-doubling"],
    [8, 16, "halving-doubling"],
    [40, 64, "halving-doubling"],
  ] as const)(
    "of %i ranks, V = %i, %s, runs the trainer's own operation: canonical bits",
    async (worldSize, V, algorithm) => {
      const leaves = makeLeaves(V, 501);
      const scenario = { worldSize, microshards: V, elements: 501, algorithm, links: defaultLinks };
      const { results, ms } = await simulateSum(scenario, (index) => leaves[index]!.slice());
      const expected = referenceSum(leaves);
      expect(results).toHaveLength(worldSize);
      for (const result of results) expect(sameBits(result, expected)).toBe(true);
      expect(ms).toBeGreaterThan(0);
    },
  );

  it("takes one latency, one message's processing on either side and the bytes' way: worked by hand", async () => {
    // Two ranks exchange 1,024 elements: `begin` and the partial sum, two headers of 40 bytes, as one message.
    const links = { latencyUs: 100, gigabitsPerSecond: 8, messageUs: 10, sendNsPerByte: 1, receiveNsPerByte: 2 };
    const bytes = 4 * 1_024 + 80;
    const scenario = { worldSize: 2, microshards: 2, elements: 1_024, algorithm: "direct", links } as const;
    const { ms, messages } = await simulateSum(scenario);
    expect(messages).toBe(2);
    // 10 µs + 1 ns a byte; 1 ns a byte on the wire; 100 µs; 10 µs + 2 ns a byte.
    expect(ms * 1_000).toBeCloseTo(10 + 100 + 10 + (bytes * 4) / 1_000, 6);
  });
});

describe("goodput", () => {
  it("pays for each loss two re-formations, half a step and the state's way: worked by hand", () => {
    const links = { ...defaultLinks, gigabitsPerSecond: 8 };
    // 100 workers, 36 % lost an hour: 36 losses, each 2 · 1 s + 0.5 s + 0.5 s of state at 1 GB/s: 108 s an hour.
    const line = goodputOf(100, 0.36, 1_000, { stepMs: 1_000, stateBytes: 500_000_000 }, links);
    expect(line.lossesAnHour).toBe(36);
    expect(line.goodput).toBeCloseTo(1 / 1.03, 12);
  });
});
