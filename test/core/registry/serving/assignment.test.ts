import fc from "fast-check";
import type { Traffic } from "../../../../core/registry/serving/shapes";
import { assign, keepOnly, noTraffic, redirect, slots } from "../../../../core/registry/serving/traffic";

const units = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
const without = (traffic: Traffic, gone: number, revision: number): Traffic => {
  const stays = (version: number): boolean => version !== gone;
  return keepOnly(traffic, { serve: stays, shadow: stays }, revision);
};
const to = (before: Traffic, canaries: readonly (readonly [number, number])[], revision = 7): Traffic =>
  redirect(before, { canaries: canaries.map(([version, weight]) => ({ version, weight })), shadows: [] }, revision);

describe("assign", () => {
  const arms = to(noTraffic, [
    [4, 0.1],
    [5, 0.25],
  ]);

  it("gives each version its part of the units", () => {
    const counts = new Map<number, number>();
    for (const unit of units) {
      const version = assign("digits", unit, 3, arms);
      counts.set(version, (counts.get(version) ?? 0) + 1);
    }
    // Five standard deviations: √(20,000 · 0.25 · 0.75) = 61.
    expect(Math.abs((counts.get(4) ?? 0) - 2_000)).toBeLessThan(215);
    expect(Math.abs((counts.get(5) ?? 0) - 5_000)).toBeLessThan(310);
    expect(Math.abs((counts.get(3) ?? 0) - 13_000)).toBeLessThan(340);
  });

  it("assigns differently for each model, and again when canaries start again", () => {
    const again = to(without(without(arms, 4, 8), 5, 9), [[6, 0.1]], 10);
    const tries = (model: string, traffic: Traffic) =>
      new Set(units.filter((unit) => assign(model, unit, 3, traffic) !== 3));
    const [first, other, later] = [tries("digits", arms), tries("flights", arms), tries("digits", again)];
    for (const set of [other, later]) {
      const both = [...set].filter((unit) => first.has(unit)).length;
      expect(both / set.size).toBeLessThan(0.4);
    }
  });
});

describe("redirect", () => {
  it("moves units into what grew, out of what shrank, and nobody else", () => {
    const weights = fc.uniqueArray(fc.tuple(fc.integer({ min: 4, max: 9 }), fc.integer({ min: 1, max: 1_500 })), {
      selector: ([version]) => version,
      maxLength: 6,
    });
    fc.assert(
      fc.property(weights, weights, (one, two) => {
        const asWeights = (all: readonly [number, number][]) =>
          all.map(([version, tenThousandths]) => [version, tenThousandths / slots] as const);
        const before = to(noTraffic, asWeights(one));
        // Dealt as before, for that nobody left in between.
        const after = { ...to(before, asWeights(two), 8), deal: before.deal };
        const owner = (traffic: Traffic, slot: number) =>
          traffic.canaries.filter(({ ranges }) => ranges.some(({ from, to: end }) => slot >= from && slot < end));
        const size = (traffic: Traffic, version: number | undefined) =>
          traffic.canaries.find((arm) => arm.version === version)?.weight ?? 0;
        const counts = new Map<number | undefined, number>();
        const wrong: number[] = [];
        for (let slot = 0; slot < slots; slot += 1) {
          const [was, ...tooMany] = owner(before, slot);
          const [is, ...tooManyNow] = owner(after, slot);
          counts.set(is?.version, (counts.get(is?.version) ?? 0) + 1);
          const moved = was?.version !== is?.version;
          const outOfOneThatKept = moved && was && size(after, was.version) >= was.weight;
          const intoOneThatKept = moved && is && is.weight <= size(before, is.version);
          if (tooMany.length + tooManyNow.length > 0 || outOfOneThatKept || intoOneThatKept) wrong.push(slot);
        }
        expect(wrong).toEqual([]);
        for (const { version, weight } of after.canaries) expect(counts.get(version)).toBe(Math.round(weight * slots));
      }),
      { numRuns: 30, seed: 1 },
    );
  });

  it("counts outcomes from zero when weights change, and not when nothing does", () => {
    const before = to(noTraffic, [[4, 0.1]], 7);
    expect([before.deal, before.epoch]).toEqual([7, 7]);
    expect(to(before, [[4, 0.1]], 8)).toEqual(before);
    const after = to(before, [[4, 0.2]], 9);
    expect([after.deal, after.epoch]).toEqual([7, 9]);
  });

  it("leaves the rest as it is where a version goes", () => {
    const before = redirect(noTraffic, { canaries: [{ version: 4, weight: 0.1 }], shadows: [6, 5, 5] }, 7);
    expect(before.shadows).toEqual([5, 6]);
    expect(without(before, 9, 8)).toBe(before);
    expect(without(before, 5, 8)).toEqual({ ...before, shadows: [6] });
    expect(without(before, 4, 8)).toEqual({ canaries: [], shadows: [5, 6], deal: 7, epoch: 8 });
  });
});
