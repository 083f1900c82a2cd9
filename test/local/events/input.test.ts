import { parsePath, type TargetInput, targetInput } from "../../../local/events/input";

const event = {
  id: "e-1",
  time: "2026-01-01T00:00:00Z",
  resources: ["arn:a"],
  detail: { status: "FAILED", code: 137, note: 'said "no"', tags: { "team name": "vision" } },
};
const rule = { name: "on-failure", arn: "arn:rule" };

describe("targetInput", () => {
  const template = (InputTemplate: string, InputPathsMap: Record<string, string> = {}) => ({
    InputTransformer: { InputTemplate, InputPathsMap },
  });
  const cases: readonly [string, TargetInput, unknown][] = [
    ["the event itself", {}, event],
    ["a constant", { Input: '{"a":1}' }, { a: 1 }],
    ["a part", { InputPath: "$.detail.code" }, 137],
    ["an element", { InputPath: "$.resources[0]" }, "arn:a"],
    ["a quoted name", { InputPath: "$.detail.tags['team name']" }, "vision"],
    ["nothing there", { InputPath: "$.detail.none" }, null],
    [
      "values as JSON",
      template('{"code": <code>, "status": <status>, "none": <none>}', {
        code: "$.detail.code",
        status: "$.detail.status",
        none: "$.x",
      }),
      { code: 137, status: "FAILED", none: null },
    ],
    [
      "values within text",
      template('{"text": "job <status> with <code><none>"}', {
        code: "$.detail.code",
        status: "$.detail.status",
        none: "$.x",
      }),
      { text: "job FAILED with 137" },
    ],
    [
      "text that needs escapes",
      template('{"text": "it <note>", "escaped": "\\"<note>"}', { note: "$.detail.note" }),
      { text: 'it said "no"', escaped: '"said "no"' },
    ],
    ["one text", template('"rule <aws.events.rule-name>"'), "rule on-failure"],
    [
      "the whole event",
      template('{"all": <aws.events.event.json>, "arn": <aws.events.rule-arn>}'),
      { all: event, arn: "arn:rule" },
    ],
    ["what is no variable", template('{"text": "a <b> c"}'), { text: "a <b> c" }],
  ];
  it.each(cases)("%s", (_, target, expected) => {
    expect(JSON.parse(targetInput(target, event, rule))).toEqual(expected);
  });

  it.each(["", "detail", "$detail", "$.a..b", "$.a[b]", "$.a[*]"])("'%s' is no path", (path) => {
    expect(parsePath(path)).toBeUndefined();
  });
});
