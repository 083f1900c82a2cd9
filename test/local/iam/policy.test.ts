import type { RequestContext } from "../../../local/iam/conditions";
import { compilePolicy, decide } from "../../../local/iam/policy";
import type { PolicyStatement } from "../../../platform/permissions";

const policy = (...statements: readonly Partial<PolicyStatement>[]) =>
  compilePolicy({
    Version: "2012-10-17",
    Statement: statements.map((statement) => ({ Effect: "Allow", Action: "s3:*", Resource: "*", ...statement })),
  });
const ask = (action: string, resource: string, context: RequestContext = {}) => ({
  action,
  resource,
  context: () => context,
});

it.each([
  ["the same action", "s3:GetObject", "s3:GetObject", true],
  ["an action in other case", "s3:getobject", "s3:GetObject", true],
  ["a wildcard", "s3:Get*", "s3:GetObject", true],
  ["a wildcard of one character", "s3:Ge?Object", "s3:GetObject", true],
  ["a longer action", "s3:GetObject", "s3:GetObjectTagging", false],
  ["another service", "s3:*", "sts:AssumeRole", false],
] as const)("actions: %s", (_what, Action, requested, allowed) => {
  expect(decide([policy({ Action })], ask(requested, "x")).allowed).toBe(allowed);
});

it.each([
  ["the same", "arn:aws:s3:::b/k", "arn:aws:s3:::b/k", true],
  ["other case", "arn:aws:s3:::b/k", "arn:aws:s3:::b/K", false],
  ["a prefix's wildcard crosses slashes", "arn:aws:s3:::b/teams/*", "arn:aws:s3:::b/teams/a/runs/x", true],
  ["nothing after the prefix", "arn:aws:s3:::b/teams/*", "arn:aws:s3:::b/teams", false],
  ["a name that goes on", "arn:aws:s3:::b/teams/a/*", "arn:aws:s3:::b/teams/ab/x", false],
  ["a dot is a dot", "arn:aws:s3:::b.c/*", "arn:aws:s3:::bxc/k", false],
  ["a line break in a key", "arn:aws:s3:::b/*", "arn:aws:s3:::b/a\nb", true],
] as const)("resources: %s", (_what, Resource, requested, allowed) => {
  expect(decide([policy({ Resource })], ask("s3:GetObject", requested)).allowed).toBe(allowed);
});

it.each<[string, Record<string, Record<string, string | string[]>>, RequestContext, boolean]>([
  ["StringEquals", { StringEquals: { "s3:prefix": "a" } }, { "s3:prefix": "a" }, true],
  ["StringEquals, one of several", { StringEquals: { "s3:prefix": ["a", "b"] } }, { "s3:prefix": "b" }, true],
  ["StringEquals, another", { StringEquals: { "s3:prefix": "a" } }, { "s3:prefix": "ab" }, false],
  ["StringEquals without the key", { StringEquals: { "s3:prefix": "a" } }, {}, false],
  ["StringLike", { StringLike: { "s3:prefix": "runs/*" } }, { "s3:prefix": "runs/x/" }, true],
  ["StringLike, another", { StringLike: { "s3:prefix": "runs/*" } }, { "s3:prefix": "run" }, false],
  ["Null true: must be absent", { Null: { "s3:if-none-match": "true" } }, {}, true],
  ["Null false: must be there", { Null: { "s3:if-none-match": "false" } }, { "s3:if-none-match": "*" }, true],
  ["Null false, absent", { Null: { "s3:if-none-match": "false" } }, {}, false],
  ["ForAllValues", { "ForAllValues:StringEquals": { k: ["a", "b"] } }, { k: ["a", "a"] }, true],
  ["ForAllValues, one too many", { "ForAllValues:StringEquals": { k: ["a", "b"] } }, { k: ["a", "c"] }, false],
  ["ForAllValues holds of nothing", { "ForAllValues:StringEquals": { k: "a" } }, {}, true],
  ["two operators: both", { StringEquals: { k: "a" }, Null: { l: "false" } }, { k: "a" }, false],
  ["two keys: both", { StringEquals: { k: "a", l: "b" } }, { k: "a", l: "b" }, true],
])("conditions: %s", (_what, Condition, context, allowed) => {
  expect(decide([policy({ Condition })], ask("s3:GetObject", "x", context)).allowed).toBe(allowed);
});

it("denies by default; a deny overrides every allow; session and role must both allow", () => {
  const all = policy({});
  const reads = policy({ Action: "s3:GetObject" });
  const guarded = policy({}, { Effect: "Deny", Resource: "secret" });
  expect(decide([policy()], ask("s3:GetObject", "x"))).toEqual({ allowed: false, denied: false });
  expect(decide([], ask("s3:GetObject", "x"))).toEqual({ allowed: false, denied: false });
  expect(decide([guarded], ask("s3:GetObject", "secret"))).toEqual({ allowed: false, denied: true });
  expect(decide([all, guarded], ask("s3:GetObject", "secret"))).toEqual({ allowed: false, denied: true });
  expect(decide([all, reads], ask("s3:GetObject", "x")).allowed).toBe(true);
  expect(decide([all, reads], ask("s3:PutObject", "x")).allowed).toBe(false);
});

it.each([
  ["an operator", { Condition: { NumericLessThan: { k: "1" } } }, "NumericLessThan"],
  ["an operator's ending", { Condition: { StringEqualsIfExists: { k: "1" } } }, "StringEqualsIfExists"],
  ["a set operator", { Condition: { "ForAnyValue:StringEquals": { k: "1" } } }, "ForAnyValue"],
  ["an element", { NotAction: "s3:*" } as never, "NotAction"],
  ["an effect", { Effect: "Maybe" as "Allow" }, "Maybe"],
])("refuses %s that it does not know", (_what, statement, named) => {
  expect(() => policy(statement)).toThrow(named);
});
