import type { APIGatewayProxyEvent } from "aws-lambda";
import { callerOf } from "../../api/http/tenancy";

type RequestContext = APIGatewayProxyEvent["requestContext"];
const identity = (more: Partial<RequestContext["identity"]>) => ({ identity: more as RequestContext["identity"] });
const authorizer = (more: Record<string, unknown>) => ({
  authorizer: more as RequestContext["authorizer"],
  ...identity({ userArn: null }),
});

describe("who calls, as the gateway says", () => {
  it("IAM: by ARN and by unique id", () => {
    const userArn = "arn:aws:sts::1:assumed-role/Role/ada";
    expect(callerOf(identity({ userArn, caller: "AROAEXAMPLE:ada" }))).toEqual({
      actor: userArn,
      person: {
        id: "AROAEXAMPLE",
        names: ["arn:aws:sts::1:assumed-role/Role", "arn:aws:iam::1:role/Role"],
      },
      principals: [userArn, "AROAEXAMPLE:ada"],
      groups: [],
    });
  });

  it("nobody: no name, no principal, no group", () => {
    expect(callerOf(identity({ userArn: null, caller: null }))).toEqual({
      actor: "anonymous",
      principals: [],
      groups: [],
    });
    expect(callerOf({})).toMatchObject({ actor: "anonymous" });
  });

  it.each([
    ["Cognito behind a REST API", { claims: { "cognito:groups": "a,b" } }],
    ["JWT behind an HTTP API", { claims: { "cognito:groups": "[a b]" } }],
    ["a list", { claims: { groups: ["a", "b"] } }],
    ["a Lambda authorizer, as text", { groups: "a, b" }],
    ["a Lambda authorizer, as JSON", { groups: '["a","b"]' }],
    ["a Lambda authorizer, claims as JSON", { claims: '{"groups":["a","b"]}' }],
  ])("groups: %s", (_name, context) => {
    expect(callerOf(authorizer(context)).groups).toEqual(["a", "b"]);
  });

  it("keeps a group's name with a space whole", () => {
    expect(callerOf(authorizer({ groups: "Data Science,Ops" })).groups).toEqual(["Data Science", "Ops"]);
  });

  it.each([
    ["the authorizer's principal", { principalId: "ann", claims: { email: "a@example.com" } }, "ann"],
    ["the address", { claims: { email: "a@example.com", email_verified: "true", sub: "1" } }, "a@example.com"],
    [
      "no address that was not verified",
      { claims: { email: "a@example.com", email_verified: "false", sub: "1" } },
      "1",
    ],
    ["no address of which nothing is said", { claims: { email: "a@example.com", sub: "1" } }, "1"],
    ["Cognito's name", { claims: { "cognito:username": "ann", sub: "1" } }, "ann"],
    ["the subject", { claims: { sub: "1" } }, "1"],
  ])("is recorded as %s", (_name, context, actor) => {
    expect(callerOf(authorizer(context)).actor).toBe(actor);
  });

  it("takes a team from the authorizer alone, never from claims", () => {
    expect(callerOf(authorizer({ team: "blue" })).team).toBe("blue");
    expect(callerOf(authorizer({ claims: { team: "blue" } })).team).toBeUndefined();
  });

  const role = (session: string, name = "Role", id = "AROAEXAMPLE") =>
    identity({ userArn: `arn:aws:sts::1:assumed-role/${name}/${session}`, caller: `${id}:${session}` });
  const personal = ["arn:aws:iam::1:role/AWSReservedSSO_*"];
  const idOf = (context: Parameters<typeof callerOf>[0]) => callerOf(context, personal).person?.id;

  it.each([
    ["a role, whatever its session is called", role("ada"), role("grace"), true],
    ["two roles", role("ada"), role("ada", "Other", "AROAOTHER"), false],
    ["a role of the same name that was made again", role("ada"), role("ada", "Role", "AROALATER"), false],
    [
      "two people in a personal role",
      role("ada@x", "AWSReservedSSO_A_1"),
      role("grace@x", "AWSReservedSSO_A_1"),
      false,
    ],
    [
      "one person in two personal roles, in another case",
      role("ada@x", "AWSReservedSSO_A_1"),
      role("Ada@X", "AWSReservedSSO_B_2", "AROAOTHER"),
      true,
    ],
    [
      "a role whose session is called as a person",
      role("ada@x"),
      role("ada@x", "AWSReservedSSO_A_1", "AROAOTHER"),
      false,
    ],
    [
      "federated users, who choose their names",
      identity({ userArn: "arn:aws:sts::1:federated-user/ada", caller: "1:ada" }),
      identity({ userArn: "arn:aws:sts::1:federated-user/grace", caller: "1:grace" }),
      true,
    ],
    [
      "two users",
      identity({ userArn: "arn:aws:iam::1:user/ada", caller: "AIDAONE" }),
      identity({ userArn: "arn:aws:iam::1:user/grace", caller: "AIDATWO" }),
      false,
    ],
    [
      "Cognito's user under another address",
      authorizer({ claims: { iss: "https://pool", sub: "1", email: "a@x" } }),
      authorizer({ claims: { iss: "https://pool", sub: "1", email: "b@x", email_verified: "true" } }),
      true,
    ],
    [
      "Cognito's users under one address",
      authorizer({ claims: { iss: "https://pool", sub: "1", email: "a@x" } }),
      authorizer({ claims: { iss: "https://pool", sub: "2", email: "a@x" } }),
      false,
    ],
    [
      "subjects of two issuers",
      authorizer({ principalId: "1", issuer: "https://one" }),
      authorizer({ principalId: "1", issuer: "https://two" }),
      false,
    ],
  ])("tells people apart by what they cannot change: %s", (_name, one, other, same) => {
    expect([typeof idOf(one), idOf(one) === idOf(other)]).toEqual(["string", same]);
  });

  it.each([
    ["a caller of the local API without a token", authorizer({ principalId: "ann", team: "blue" })],
    ["a caller that nothing is known of", identity({})],
    ["a token without an issuer", authorizer({ claims: { sub: "1" } })],
  ])("authenticates no person: %s", (_name, context) => {
    expect(idOf(context)).toBeUndefined();
  });
});
