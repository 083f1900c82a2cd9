import { readTeamDirectory } from "../../../platform/config";

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
