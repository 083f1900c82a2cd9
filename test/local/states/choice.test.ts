import type { Json } from "../../../local/states/json";
import { ruleHolds } from "../../../local/states/query/comparison";
import type { Scope } from "../../../local/states/query/scope";
import type { ChoiceRule } from "../../../local/states/types";

const input = {
  s: "abc",
  n: 5,
  b: true,
  nil: null,
  t: "2024-01-01T00:00:00Z",
  later: "2024-01-01T02:00:00+01:00",
  star: "a*b",
};
const scope: Scope = { language: "JSONPath", input, context: {}, variables: {}, now: 0 };

describe("a comparison of JSONPath", () => {
  it.each<[string, string, Json, boolean]>([
    ["$.s", "StringEquals", "abc", true],
    ["$.s", "StringEquals", "ABC", false],
    ["$.n", "StringEquals", "5", false],
    ["$.s", "StringLessThan", "abd", true],
    ["$.s", "StringGreaterThanEquals", "abc", true],
    ["$.s", "StringEqualsPath", "$.s", true],
    ["$.s", "StringMatches", "a*", true],
    ["$.s", "StringMatches", "*b*", true],
    ["$.s", "StringMatches", "b*", false],
    ["$.s", "StringMatches", "a.c", false],
    ["$.star", "StringMatches", "a\\*b", true],
    ["$.s", "StringMatches", "a\\*c", false],
    ["$.n", "NumericEquals", 5.0, true],
    ["$.n", "NumericLessThan", 5, false],
    ["$.n", "NumericLessThanEquals", 5, true],
    ["$.n", "NumericGreaterThanPath", "$.n", false],
    ["$.s", "NumericEquals", 5, false],
    ["$.b", "BooleanEquals", true, true],
    ["$.b", "BooleanEqualsPath", "$.b", true],
    ["$.n", "BooleanEquals", true, false],
    ["$.t", "TimestampLessThan", "2024-01-01T00:00:01Z", true],
    ["$.t", "TimestampLessThanPath", "$.later", true],
    ["$.later", "TimestampEquals", "2024-01-01T01:00:00Z", true],
    ["$.s", "TimestampEquals", "2024-01-01T01:00:00Z", false],
    ["$.nil", "IsNull", true, true],
    ["$.s", "IsNull", false, true],
    ["$.s", "IsString", true, true],
    ["$.n", "IsNumeric", true, true],
    ["$.b", "IsBoolean", true, true],
    ["$.t", "IsTimestamp", true, true],
    ["$.s", "IsTimestamp", true, false],
    ["$.nil", "IsPresent", true, true],
    ["$.none", "IsPresent", true, false],
    ["$.none", "IsPresent", false, true],
  ])("%s %s %j: %s", (Variable, operator, operand, expected) => {
    expect(ruleHolds({ Variable, [operator]: operand }, scope, input)).toBe(expected);
  });

  it("is joined by And, Or and Not", () => {
    const yes = { Variable: "$.n", NumericEquals: 5 };
    const no = { Variable: "$.n", NumericEquals: 6 };
    const holds = (rule: ChoiceRule) => ruleHolds(rule, scope, input);
    expect([holds({ And: [yes, yes] }), holds({ And: [yes, no] })]).toEqual([true, false]);
    expect([holds({ Or: [no, yes] }), holds({ Or: [no, no] })]).toEqual([true, false]);
    expect([holds({ Not: no }), holds({ Not: { And: [yes, { Or: [yes, no] }] } })]).toEqual([true, false]);
  });

  it("with a missing variable fails the state", () => {
    expect(() => ruleHolds({ Variable: "$.none", NumericEquals: 1 }, scope, input)).toThrow(/could not be found/);
  });
});
