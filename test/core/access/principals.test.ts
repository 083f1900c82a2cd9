import { principalMatches, principalPatternProblem } from "../../../core/access/principals";

describe("principalMatches", () => {
  const session = "arn:aws:sts::123456789012:assumed-role/vision-trainer/ada@example.com";

  it.each([
    ["a user", "arn:aws:iam::123456789012:user/ada", "arn:aws:iam::123456789012:user/ada", true],
    ["another user", "arn:aws:iam::123456789012:user/ada", "arn:aws:iam::123456789012:user/adam", false],
    ["a * at the end", "arn:aws:iam::123456789012:user/ad*", "arn:aws:iam::123456789012:user/adam", true],
    ["a *, which stays within a path", "arn:aws:iam::1:user/*", "arn:aws:iam::1:user/x/ada", false],
    ["a *, which stays within an account", "arn:aws:iam::*/ada", "arn:aws:iam::123456789012:user/ada", false],
    ["characters that mean something to a RegExp", "arn:aws:iam::1:user/a.a", "arn:aws:iam::1:user/ada", false],
    ["a role, of its session", "arn:aws:iam::123456789012:role/vision-trainer", session, true],
    ["a role by a pattern", "arn:aws:iam::123456789012:role/vision-*", session, true],
    ["a role with its path", "arn:aws:iam::123456789012:role/teams/vision-trainer", session, true],
    ["a role whose name is longer", "arn:aws:iam::123456789012:role/vision", session, false],
    ["a role of that name in another account", "arn:aws:iam::999999999999:role/vision-trainer", session, false],
    ["a role in another partition", "arn:aws-cn:iam::123456789012:role/vision-trainer", session, false],
    ["a session named like a role", "arn:aws:iam::1:role/x", "arn:aws:sts::1:assumed-role/audio/x", false],
    ["a session", "arn:aws:sts::123456789012:assumed-role/vision-trainer/*", session, true],
    ["a unique id", "AROAEXAMPLE:*", "AROAEXAMPLE:ada@example.com", true],
    ["a user of a role's name", "arn:aws:iam::1:role/ada", "arn:aws:iam::1:user/ada", false],
  ])("%s", (_name, pattern, principal, expected) => {
    expect(principalMatches(pattern, principal)).toBe(expected);
  });
});

it.each([
  ["*", /every principal/],
  ["*:*", /every principal/],
  ["arn:aws:iam::1:role/aws-reserved/sso.amazonaws.com/*", /path/],
  ["arn:aws:iam::1:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Vision_0123456789abcdef", undefined],
  ["arn:aws:iam::1:role/AWSReservedSSO_Vision_*", undefined],
])("says what is wrong with the pattern %s", (pattern, problem) => {
  if (problem) expect(principalPatternProblem(pattern)).toMatch(problem);
  else expect(principalPatternProblem(pattern)).toBeUndefined();
});
