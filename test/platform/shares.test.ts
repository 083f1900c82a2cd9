import fc from "fast-check";
import { teamNamePattern } from "../../core/access/principals";
import { readTeamShares, schedulingOf, shareIdentifierOf, weightFactorOf } from "../../platform/shares";

describe("a share's identifier", () => {
  it.each([
    ["vision", "vision"],
    ["ml-2-ops", "mlX2Xops"],
    ["a-", "aX"],
  ])("of %s is %s", (team, identifier) => expect(shareIdentifierOf(team)).toBe(identifier));

  it("is alphanumeric, and no two teams have the same", () => {
    const team = fc.stringMatching(teamNamePattern);
    fc.assert(
      fc.property(team, team, (one, other) => {
        expect(shareIdentifierOf(one)).toMatch(/^[a-zA-Z0-9]{1,255}$/);
        expect(shareIdentifierOf(one) === shareIdentifierOf(other)).toBe(one === other);
      }),
    );
  });
});

it("schedules a team in its own share unless the configuration names another", () => {
  const shares = readTeamShares('{"vision":{"share":"all-research","priority":7}}');
  expect(schedulingOf("vision", shares)).toEqual({ shareIdentifier: "allXresearch", schedulingPriorityOverride: 7 });
  expect(schedulingOf("nlp", shares)).toEqual({ shareIdentifier: "nlp", schedulingPriorityOverride: 0 });
});

it.each([
  [1, 1],
  [2, 0.5],
  [3, 0.3333],
  [0.01, 100],
  [100_000, 0.0001],
  [0.0001, 999.9999],
])("turns weight %p into Batch's factor %p, within Batch's limits", (weight, factor) =>
  expect(weightFactorOf(weight)).toBe(factor),
);
