import { armsOf, assign } from "../../../core/serving/assignment";

const units = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
const canaries = (weight: number) => [{ version: 4, weight }];

describe("assign", () => {
  it("gives a unit the same version each time", () => {
    for (const unit of units.slice(0, 100)) {
      expect(assign("digits", unit, 3, canaries(0.5))).toBe(assign("digits", unit, 3, canaries(0.5)));
    }
  });

  it("gives each version its part of the units", () => {
    const arms = [
      { version: 4, weight: 0.1 },
      { version: 5, weight: 0.25 },
    ];
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

  it("moves units only into the arm that grew", () => {
    for (const unit of units) {
      const [before, after] = [assign("digits", unit, 3, canaries(0.05)), assign("digits", unit, 3, canaries(0.1))];
      if (before !== after) expect([before, after]).toEqual([3, 4]);
    }
  });

  it("leaves the units of other arms where they are when one goes", () => {
    const both = [...canaries(0.2), { version: 5, weight: 0.2 }];
    for (const unit of units.slice(0, 5_000)) {
      const before = assign("digits", unit, 3, both);
      if (before === 4) expect(assign("digits", unit, 3, canaries(0.2))).toBe(4);
    }
  });

  it("draws for each model anew", () => {
    const same = units.filter((unit) => {
      const version = assign("digits", unit, 3, canaries(0.5));
      return version === assign("flights", unit, 3, canaries(0.5));
    });
    expect(Math.abs(same.length - 10_000)).toBeLessThan(360);
  });

  it.each([
    ["no canary", [], [3]],
    [
      "canaries that take everything",
      [
        { version: 4, weight: 0.4 },
        { version: 5, weight: 0.6 },
      ],
      [4, 5],
    ],
    [
      "weights whose sum rounds to more than 1",
      [
        { version: 4, weight: 0.7 },
        { version: 5, weight: 0.3000000000000001 },
      ],
      [4, 5],
    ],
    ["a canary of a little", [{ version: 4, weight: 0.001 }], [3, 4]],
  ])("%s: who gets units at all", (_, arms, expected) => {
    expect(armsOf(3, arms).map(({ version }) => version)).toEqual(expected);
  });
});
