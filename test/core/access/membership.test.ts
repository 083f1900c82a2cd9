import { type Caller, chooseTeam, teamsOf } from "../../../core/access/membership";

const ann = "arn:aws:iam::1:user/ann";
const directory = [
  { name: "vision", principals: ["arn:aws:iam::1:role/vision-*"], groups: ["vision", "everyone"] },
  { name: "audio", principals: [ann], groups: ["audio", "everyone"] },
];
const caller = (more: Partial<Caller>): Caller => ({ actor: "ada", principals: [], groups: [], ...more });

describe("a caller's teams", () => {
  it.each([
    ["a principal's", caller({ principals: ["arn:aws:sts::1:assumed-role/vision-ci/build"] }), ["vision"]],
    ["a group's", caller({ groups: ["audio", "others"] }), ["audio"]],
    ["those of a group of several", caller({ groups: ["everyone"] }), ["vision", "audio"]],
    ["principal and group together", caller({ principals: [ann], groups: ["vision"] }), ["vision", "audio"]],
    ["none", caller({ principals: ["arn:aws:iam::1:user/eve"], groups: ["Vision"] }), []],
    ["the one that the gateway names", caller({ team: "blue", groups: ["audio"] }), ["blue"]],
  ])("%s", (_name, who, teams) => {
    expect(teamsOf(who, directory)).toEqual(teams);
  });

  it("is the default one for everyone where nobody is put into any", () => {
    expect(teamsOf(caller({}), [])).toEqual(["default"]);
    expect(teamsOf(caller({}), [{ name: "vision", principals: [], groups: [] }])).toEqual(["default"]);
  });
});

describe("the team of a call", () => {
  const both = caller({ groups: ["everyone"] });
  it("is the caller's only one, or the requested one", () => {
    expect(chooseTeam(caller({ groups: ["audio"] }), directory, undefined)).toBe("audio");
    expect(chooseTeam(caller({ groups: ["audio"] }), directory, "audio")).toBe("audio");
    expect(chooseTeam(both, directory, "audio")).toBe("audio");
  });

  it.each([
    ["of several, none is named", both, undefined, { code: "TEAM_NOT_CHOSEN", httpStatus: 400 }],
    ["it is another one", caller({ groups: ["audio"] }), "vision", { code: "NOT_IN_TEAM", httpStatus: 403 }],
    ["the caller has none", caller({}), undefined, { code: "NO_TEAM", httpStatus: 403 }],
    ["the caller has none, and asks for one", caller({}), "vision", { code: "NO_TEAM", httpStatus: 403 }],
  ])("is refused where %s", (_name, who, requested, error) => {
    expect(() => chooseTeam(who, directory, requested)).toThrow(expect.objectContaining(error));
  });

  it("says the same of a team that is not there as of one that is another's", () => {
    const refusal = (requested: string) => {
      try {
        return chooseTeam(caller({ groups: ["audio"] }), directory, requested);
      } catch (error) {
        return (error as Error).message.replace(requested, "…");
      }
    };
    expect(refusal("vision")).toBe(refusal("nothing"));
  });
});
