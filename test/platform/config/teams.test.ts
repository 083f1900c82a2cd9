import fc from "fast-check";
import { teamNamePattern } from "../../../core/access/principals";
import { readTeamDirectory } from "../../../platform/config";
import { readTeamShares, schedulingOf, shareIdentifierOf, weightFactorOf } from "../../../platform/shares";

describe("RINGMASTER_TEAMS", () => {
  it("is who is in which team", () => {
    const text = JSON.stringify([{ name: "vision", groups: ["v"], weight: 2 }, { name: "audio" }]);
    expect(readTeamDirectory({ RINGMASTER_TEAMS: text })).toEqual([
      { name: "vision", principals: [], groups: ["v"] },
      { name: "audio", principals: [], groups: [] },
    ]);
  });

  it.each([undefined, ""])("may be absent: everyone is of the default team (%p)", (text) => {
    expect(readTeamDirectory({ RINGMASTER_TEAMS: text })).toEqual([]);
  });

  it.each([
    ["no JSON", "vision", /RINGMASTER_TEAMS: must be JSON/],
    ["no list", "{}", /RINGMASTER_TEAMS/],
    ["a name that is none", '[{"name":"../x"}]', /RINGMASTER_TEAMS\.0\.name: must be 1–32 lower-case letters/],
    [
      "everyone",
      '[{"name":"x","principals":["*"]}]',
      /RINGMASTER_TEAMS\.0\.principals\.0: would match every principal/,
    ],
  ])("is refused with the rule: %s", (_name, text, rule) => {
    expect(() => readTeamDirectory({ RINGMASTER_TEAMS: text })).toThrow(rule);
  });
});

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
