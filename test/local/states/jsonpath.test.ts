import type { Json } from "../../../local/states/json";
import { callIntrinsic, parseIntrinsic } from "../../../local/states/query/intrinsic-parse";
import { insert, lookUp } from "../../../local/states/query/path";
import { parsePath } from "../../../local/states/query/path-parse";
import type { Scope } from "../../../local/states/query/scope";
import { type Harness, jsonPath, open, output } from "./support/harness";

const input: Json = {
  a: { b: [10, 20, 30], "odd key": 1, n: null },
  list: [
    { k: "x", v: 1 },
    { k: "y", v: 2, deep: { v: 3 } },
  ],
};
const scope: Scope = {
  language: "JSONPath",
  input,
  context: { Execution: { Name: "e" } },
  variables: { v: { w: [7, 8] } },
  now: 0,
};

describe("a path", () => {
  it.each<readonly [string, Json | undefined]>([
    ["$", input],
    ["$.a.b[1]", 20],
    ["$.a.b[-1]", 30],
    ["$['a']['odd key']", 1],
    ['$["a"]["odd key"]', 1],
    ["$.a.n", null],
    ["$.none", undefined],
    ["$.a.b[9]", undefined],
    ["$.a.b[*]", [10, 20, 30]],
    ["$.a.b[0:2]", [10, 20]],
    ["$.a.b[1:]", [20, 30]],
    ["$.a.b[0,2]", [10, 30]],
    ["$.list[*].k", ["x", "y"]],
    ["$.list..v", [1, 2, 3]],
    ["$..deep.v", [3]],
    ["$.list[?(@.v > 1)].k", ["y"]],
    ["$.list[?(@.k == 'x' || @.deep)].v", [1, 2]],
    ["$.list[?(!(@.k == 'x') && @.v <= 2)].k", ["y"]],
    ["$.list[?(@.v == 99)]", []],
    ["$.list[0]['k','v']", ["x", 1]],
    ["$$.Execution.Name", "e"],
    ["$v.w[1]", 8],
    ["$unknown.w", undefined],
  ])("%s", (path, expected) => {
    expect(lookUp(path, scope)).toEqual(expected);
  });

  it.each(["a.b", "$.", "$.a[", "$.a[?(@.b ==)]", "$.a b", "$.a[x]"])("%s is refused", (path) => {
    expect(() => parsePath(path)).toThrow(SyntaxError);
  });

  it.each<[string, Json, Json]>([
    ["$", 1, 1],
    ["$.x", 1, { x: 0, l: [1, 2] }],
    ["$.new.deep", 1, { x: 0 }],
    ["$.l[1]", 9, { l: [1, 2] }],
  ])("%s takes a value in", (path, value, target) => {
    const placed = insert(path, value, target);
    expect(lookUp(path, { ...scope, input: placed })).toEqual(value);
  });

  it("changes nothing else, and fails if the value cannot be set", () => {
    expect(insert("$.a.c", 1, { a: { b: 2 }, d: 3 })).toEqual({ a: { b: 2, c: 1 }, d: 3 });
    expect(() => insert("$.l[5]", 1, { l: [1] })).toThrow(/States.ResultPathMatchFailure/);
    expect(() => insert("$.x", 1, "text")).toThrow(/States.ResultPathMatchFailure/);
  });
});

describe("an intrinsic function", () => {
  it.each<[string, Json]>([
    ["States.Format('{} is {}', $.list[0].k, $.a.b)", "x is [10,20,30]"],
    ["States.Format('it\\'s \\{\\} {}', 1)", "it's {} 1"],
    ["States.StringToJson('{\"a\":1}')", { a: 1 }],
    ["States.JsonToString($.list[0])", '{"k":"x","v":1}'],
    ["States.Array(1, 'two', null, true, $.a.b[0])", [1, "two", null, true, 10]],
    ["States.Array()", []],
    ["States.ArrayPartition($.a.b, 2)", [[10, 20], [30]]],
    ["States.ArrayContains($.a.b, 20)", true],
    ['States.ArrayContains($.list, States.StringToJson(\'{"k":"x","v":1}\'))', true],
    ["States.ArrayRange(1, 9, 2)", [1, 3, 5, 7, 9]],
    ["States.ArrayGetItem($.a.b, 2)", 30],
    ["States.ArrayLength($.list[*].k)", 2],
    ["States.ArrayUnique(States.Array(1, 2, 1, 3, 2))", [1, 2, 3]],
    ["States.Base64Encode('Data to encode')", "RGF0YSB0byBlbmNvZGU="],
    ["States.Base64Decode('RGVjb2RlZCBkYXRh')", "Decoded data"],
    ["States.Hash('input data', 'SHA-1')", "aaff4a450a104cd177d28d18d74485e8cae074b7"],
    ["States.JsonMerge($.list[0], $.list[1], false)", { k: "y", v: 2, deep: { v: 3 } }],
    ["States.MathAdd(111, -1)", 110],
    ["States.StringSplit('1+2*3', '+*')", ["1", "2", "3"]],
    ["States.Format('{}', States.MathAdd($v.w[0], 1))", "8"],
    ["States.ArrayLength($.list[?(@.v > 0)])", 2],
  ])("%s", (call, expected) => {
    expect(callIntrinsic(call, scope, input)).toEqual(expected);
  });

  it("draws at random", () => {
    expect(callIntrinsic("States.UUID()", scope, input)).toMatch(/^[0-9a-f-]{36}$/);
    const drawn = Number(callIntrinsic("States.MathRandom(3, 6)", scope, input));
    expect([3, 4, 5]).toContain(drawn);
  });

  it.each([
    "States.None()",
    "States.Format('{}'",
    "States.Array(1,)",
    "Format('x')",
    "States.Array(1) 2",
    "States.Array(,1)",
  ])("%s is refused", (call) => {
    expect(() => parseIntrinsic(call)).toThrow(SyntaxError);
  });

  it.each([
    ["States.ArrayLength('x')", /must be an array/],
    ["States.ArrayGetItem($.a.b, 7)", /has no item/],
    ["States.Format('{} {}', 1)", /fewer arguments/],
    ["States.StringToJson('{')", /no JSON/],
    ["States.JsonMerge($.a, $.a, true)", /shallowly/],
    ["States.MathAdd($.nothing, 1)", /could not be found/],
  ])("%s fails the state", (call, why) => {
    expect(() => callIntrinsic(call, scope, input)).toThrow(why);
  });
});

describe("in a flow", () => {
  let states: Harness;
  beforeEach(async () => {
    states = await open({
      echo: (payload: unknown) => payload,
      sum: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
    });
  });
  afterEach(() => states.close());

  const task = (more: object) => ({
    Type: "Task",
    Resource: "arn:aws:lambda:us-east-1:000000000000:function:sum",
    End: true,
    ...more,
  });

  it.each<[string, object, Json]>([
    ["nothing set", {}, { sum: 3 }],
    ["ResultPath", { ResultPath: "$.r" }, { x: { a: 1, b: 2 }, a: 1, b: 2, r: { sum: 3 } }],
    ["ResultPath null", { ResultPath: null }, { x: { a: 1, b: 2 }, a: 1, b: 2 }],
    ["InputPath", { InputPath: "$.x", ResultPath: "$.r", OutputPath: "$.r.sum" }, 3],
    ["OutputPath null", { OutputPath: null }, {}],
    ["Parameters", { Parameters: { "a.$": "$.x.a", b: 10 } }, { sum: 11 }],
    ["Parameters by an intrinsic", { Parameters: { "a.$": "States.MathAdd($.a, 5)", "b.$": "$.b" } }, { sum: 8 }],
    [
      "ResultSelector",
      { ResultSelector: { "total.$": "$.sum", "by.$": "$$.State.Name" }, ResultPath: "$.r", OutputPath: "$.r" },
      { total: 3, by: "A" },
    ],
  ])("a task with %s", async (_title, more, expected) => {
    const done = await states.run(jsonPath({ A: task(more) }), { x: { a: 1, b: 2 }, a: 1, b: 2 });
    expect(output(done)).toEqual(expected);
  });

  it("a task shows as a Lambda function's in the history", async () => {
    const done = await states.run(jsonPath({ A: task({ TimeoutSeconds: 5 }) }), { a: 1, b: 2 });
    const events = await states.history(done.executionArn as string);
    expect(events.map(({ type }) => type)).toEqual([
      ...["ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted"],
      ...["LambdaFunctionSucceeded", "TaskStateExited", "ExecutionSucceeded"],
    ]);
    expect(events[2]?.lambdaFunctionScheduledEventDetails).toMatchObject({
      input: '{"a":1,"b":2}',
      timeoutInSeconds: 5,
    });
  });

  it("Pass takes Result or Parameters, and Assign sees them as $", async () => {
    const A = { Type: "Pass", Result: { a: 1 }, ResultPath: "$.a", Assign: { "kept.$": "$.a" }, Next: "B" };
    const B = { Type: "Pass", Parameters: { "in.$": "$", "kept.$": "$kept" }, End: true };
    expect(output(await states.run(jsonPath({ A, B }), { z: 0 }))).toEqual({ in: { z: 0, a: { a: 1 } }, kept: 1 });
  });

  it("Map takes ItemsPath, ItemSelector and the old Parameters and Iterator", async () => {
    const inner = { StartAt: "S", States: { S: { Type: "Pass", End: true } } };
    const selector = { "i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "all.$": "$.name" };
    const M = {
      Type: "Map",
      ItemsPath: "$.l",
      ItemSelector: selector,
      ItemProcessor: inner,
      ResultPath: "$.out",
      Next: "N",
    };
    const N = {
      Type: "Map",
      ItemsPath: "$.l",
      Parameters: { "v.$": "$$.Map.Item.Value" },
      Iterator: { StartAt: "T", States: { T: { Type: "Pass", End: true } } },
      ResultPath: "$.old",
      End: true,
    };
    expect(output(await states.run(jsonPath({ M, N }), { l: [5, 6], name: "n" }))).toEqual({
      l: [5, 6],
      name: "n",
      out: [
        { i: 0, v: 5, all: "n" },
        { i: 1, v: 6, all: "n" },
      ],
      old: [{ v: 5 }, { v: 6 }],
    });
  });

  it("a Wait and a timeout take their length from a path", async () => {
    const W = { Type: "Wait", SecondsPath: "$.s", Next: "U" };
    const U = { Type: "Wait", TimestampPath: "$.t", End: true };
    const t = new Date(states.clock.now() + 100_000).toISOString();
    const done = await states.run(jsonPath({ W, U }), { s: 30, t });
    expect(done.stopDate?.toISOString()).toBe(t);
  });

  it("a missing path is States.Runtime, which States.ALL does not catch", async () => {
    const Catch = [{ ErrorEquals: ["States.ALL"], Next: "B" }];
    const A = task({ Parameters: { "a.$": "$.none" }, Catch });
    const done = await states.run(jsonPath({ A, B: { Type: "Pass", End: true } }), { x: 1 });
    expect(done).toMatchObject({
      status: "FAILED",
      error: "States.Runtime",
      cause: `An error occurred while executing the state 'A' (entered at the event id #2). The JSONPath '$.none' specified for the field 'a.$' could not be found in the input '{"x":1}'`,
    });
  });

  it("Catch puts the error at its ResultPath", async () => {
    const A = task({
      Resource: "arn:aws:lambda:us-east-1:000000000000:function:none",
      Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: "B" }],
    });
    const done = await states.run(jsonPath({ A, B: { Type: "Pass", OutputPath: "$['error','x']", End: true } }), {
      x: 1,
    });
    expect(output(done)).toEqual([expect.objectContaining({ Error: "Lambda.ResourceNotFoundException" }), 1]);
  });

  it("a state may be JSONata in a JSONPath machine", async () => {
    const A = { Type: "Pass", QueryLanguage: "JSONata", Output: "{% $states.input.n + 1 %}", End: true };
    expect(output(await states.run(jsonPath({ A }), { n: 1 }))).toBe(2);
  });
});
