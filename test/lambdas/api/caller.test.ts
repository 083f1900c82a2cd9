import type { APIGatewayProxyEvent } from "aws-lambda";
import { callerOf } from "../../../lambdas/api/caller";

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
    ["the address", { claims: { email: "a@example.com", sub: "1" } }, "a@example.com"],
    ["Cognito's name", { claims: { "cognito:username": "ann", sub: "1" } }, "ann"],
    ["the subject", { claims: { sub: "1" } }, "1"],
  ])("is recorded as %s", (_name, context, actor) => {
    expect(callerOf(authorizer(context)).actor).toBe(actor);
  });

  it("takes a team from the authorizer alone, never from claims", () => {
    expect(callerOf(authorizer({ team: "blue" })).team).toBe("blue");
    expect(callerOf(authorizer({ claims: { team: "blue" } })).team).toBeUndefined();
  });
});
