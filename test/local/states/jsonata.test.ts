import { StateError } from "../../../local/states/errors";
import { evaluate } from "../../../local/states/query/jsonata";
import type { Scope } from "../../../local/states/query/scope";
import { expressionIn, fillTemplate } from "../../../local/states/query/template";
import { type Harness, jsonata, lambda, open, output } from "./support/harness";

const scope: Scope = {
  input: { n: 5, list: [{ o: 1 }, { o: 2 }], text: "a-b" },
  context: { Execution: { Name: "e" } },
  variables: { v: { deep: [1, 2] }, zero: 0 },
  result: { ok: true },
  now: Date.UTC(2030, 0, 1),
};

describe("an expression", () => {
  it.each([
    ["arithmetic", "$states.input.n * 2 + $zero", 10],
    ["the context", "$states.context.Execution.Name", "e"],
    ["the result", "$states.result.ok", true],
    ["a variable", "$v.deep[1]", 2],
    ["a single match is no list", "$states.input.list[o=1].o", 1],
    ["a kept list", "$states.input.list[o=1].o[]", [1]],
    ["null", "null", null],
    ["a missing key is dropped", '{"a": 1, "b": $states.input.none}', { a: 1 }],
    ["$now on the service's clock", "$now()", "2030-01-01T00:00:00.000Z"],
    ["$now with a picture", '$now("[Y0001]/[M01]")', "2030/01"],
    ["$millis", "$millis()", Date.UTC(2030, 0, 1)],
    ["$partition", "$partition([1,2,3,4,5], 2)", [[1, 2], [3, 4], [5]]],
    ["$range", "$range(1, 9, 3)", [1, 4, 7]],
    ["$range, downwards", "$range(3, 1, -1)", [3, 2, 1]],
    ["$hash", '$hash("abc", "SHA-256")', "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["$hash MD5", '$hash("abc", "MD5")', "900150983cd24fb0d6963f7d28e17f72"],
    ["$parse", '$parse("{\\"a\\":[1]}")', { a: [1] }],
    ["$uuid", "$length($uuid())", 36],
    ["$random, seeded", "$random(7) = $random(7)", true],
    ["$random, its range", "$random() < 1", true],
    ["a regular expression", "$split($states.input.text, /-/)", ["a", "b"]],
  ])("%s", async (_title, expression, expected) => {
    expect(await fillTemplate(`{% ${expression} %}`, "Output", scope)).toEqual(expected);
  });

  it.each([
    [
      "gives nothing",
      "$states.input.none",
      "The JSONata expression '$states.input.none' specified for the field 'Output' returned nothing (undefined).",
    ],
    [
      "is of the wrong type",
      "$sum(['a'])",
      "The JSONata expression '$sum(['a'])' specified for the field 'Output' threw an error during evaluation. T0412: Argument 1 of function \"sum\" must be an array of \"numbers\"",
    ],
    ["calls $eval", "$eval('1')", expect.stringContaining("T1006")],
    ["gives a function", "function($x) { $x }", expect.stringContaining("gave a function")],
    ["gives a builtin", "$sum", expect.stringContaining("gave a function")],
    ["makes a huge sequence", "$sum([1..900000])", expect.stringContaining("D2015")],
    ["recurses too deep", "($f := function($x) { 1 + $f($x) }; $f(1))", expect.stringContaining("D1011")],
    ["reads a field of no input", "n", expect.stringContaining("returned nothing")],
    ["hashes by an unknown algorithm", "$hash('a', 'CRC')", expect.stringContaining("must be one of MD5")],
  ])("fails the state when it %s", async (_title, expression, cause) => {
    const failed = await fillTemplate(`{% ${expression} %}`, "Output", scope).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StateError);
    expect(failed).toMatchObject({ error: "States.QueryEvaluationError", cause, evaluation: { location: "Output" } });
  });

  it.each([
    ["{% 1 %}", "1"],
    ["{%1%}", "1"],
    [" {% 1 %}", undefined],
    ["{% 1 %} ", undefined],
    ["1", undefined],
    ["{%}", undefined],
  ])("in %j is %j", (text, expected) => {
    expect(expressionIn(text)).toBe(expected);
  });

  it("is bounded in time, and lets others run in the meantime", async () => {
    let ticks = 0;
    let running = true;
    const tick = (): void => {
      ticks += 1;
      if (running) setImmediate(tick);
    };
    setImmediate(tick);
    const endless = evaluate("($f := function($x) { $f($x + 1) }; $f(1))", {}, 0);
    await expect(endless).rejects.toThrow("took longer than");
    running = false;
    expect(ticks).toBeGreaterThan(10);
  });

  it("with a regular expression that backtracks without end is interrupted", async () => {
    const evil = evaluate('$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)', {}, 0);
    await expect(evil).rejects.toThrow("timed out");
  });

  it("isolates concurrent evaluations", async () => {
    const slow = (k: number) =>
      evaluate("$reduce($map([1..400], function($i) { $i * $k }), function($a, $b) { $a + $b })", { k }, 0);
    expect(await Promise.all([slow(1), slow(2), slow(3)])).toEqual([80_200, 160_400, 240_600]);
  });
});

it("names the place of a failed expression in a template", async () => {
  const template = { a: [{ b: "{% $states.input.none %}" }] };
  await expect(fillTemplate(template, "Arguments", scope)).rejects.toMatchObject({
    evaluation: { location: "Arguments/a[0]/b" },
  });
});

describe("in a flow", () => {
  let states: Harness;
  beforeEach(async () => {
    states = await open({ echo: (payload: unknown) => payload });
  });
  afterEach(() => states.close());

  const run = async (definition: object, input?: unknown) => output(await states.run(definition, input));

  it("assigns from the old values, all at once, for the states to come", async () => {
    const A = { Type: "Pass", Assign: { x: 1, y: 2 }, Next: "B" };
    const B = { Type: "Pass", Assign: { x: "{% $y %}", y: "{% $x %}" }, Output: "{% $x %}", Next: "C" };
    const C = { Type: "Pass", Output: ["{% $states.input %}", "{% $x %}", "{% $y %}"], End: true };
    expect(await run(jsonata({ A, B, C }))).toEqual([1, 2, 1]);
  });

  it("keeps a branch's variables to the branch", async () => {
    const branch = (value: number) => ({
      StartAt: `S${value}`,
      States: {
        [`S${value}`]: { Type: "Pass", Assign: { own: value }, Next: `T${value}` },
        [`T${value}`]: { Type: "Pass", Output: "{% $outer + $own %}", End: true },
      },
    });
    const A = { Type: "Pass", Assign: { outer: 100 }, Next: "P" };
    const P = { Type: "Parallel", Branches: [branch(1), branch(2)], Next: "E" };
    const E = { Type: "Pass", Output: { sums: "{% $states.input %}", leaked: "{% $exists($own) %}" }, End: true };
    expect(await run(jsonata({ A, P, E }))).toEqual({ sums: [101, 102], leaked: false });
  });

  it("gives a task its Arguments and sees its result in Output and Assign", async () => {
    const A = lambda("echo", {
      Arguments: {
        FunctionName: "arn:aws:lambda:us-east-1:000000000000:function:echo:live",
        Payload: { got: "{% $states.input.n %}" },
      },
      Output: { status: "{% $states.result.StatusCode %}", n: "{% $states.input.n %}" },
      Assign: { payload: "{% $states.result.Payload %}" },
      End: undefined,
      Next: "B",
    });
    const B = { Type: "Pass", Output: ["{% $states.input %}", "{% $payload %}"], End: true };
    expect(await run(jsonata({ A, B }), { n: 3 })).toEqual([{ status: 200, n: 3 }, { got: 3 }]);
  });

  it("takes the first condition that holds, with the rule's own Output and Assign", async () => {
    const C = {
      Type: "Choice",
      Choices: [
        { Condition: "{% $states.input.n > 10 %}", Next: "E", Output: "big" },
        { Condition: "{% $states.input.n > 1 %}", Next: "E", Output: "some", Assign: { via: "rule" } },
      ],
      Default: "E",
      Output: "few",
      Assign: { via: "default" },
    };
    const E = { Type: "Pass", Output: ["{% $states.input %}", "{% $via %}"], End: true };
    expect(await run(jsonata({ C, E }), { n: 5 })).toEqual(["some", "rule"]);
    expect(await run(jsonata({ C, E }), { n: 0 })).toEqual(["few", "default"]);
  });

  it("fails a Choice without a match, and a condition that is not a boolean", async () => {
    const only = (Condition: string) =>
      jsonata({ C: { Type: "Choice", Choices: [{ Condition, Next: "E" }] }, E: { Type: "Succeed" } });
    expect(await states.run(only("{% false %}"))).toMatchObject({ status: "FAILED", error: "States.NoChoiceMatched" });
    expect(await states.run(only("{% 1 %}"))).toMatchObject({ status: "FAILED", error: "States.QueryEvaluationError" });
  });

  it("fails with a computed Error and Cause", async () => {
    const F = {
      Type: "Fail",
      Error: "{% 'E' & $states.input.code %}",
      Cause: "{% 'because ' & $states.context.State.Name %}",
    };
    expect(await states.run(jsonata({ F }), { code: 7 })).toMatchObject({
      status: "FAILED",
      error: "E7",
      cause: "because F",
    });
  });

  it("waits for seconds and until a time", async () => {
    const W = { Type: "Wait", Seconds: "{% $states.input.s %}", Next: "U" };
    const U = { Type: "Wait", Timestamp: "{% $fromMillis($millis() + 60000) %}", End: true };
    const done = await states.run(jsonata({ W, U }), { s: 30 });
    const took = (done.stopDate?.getTime() ?? 0) - (done.startDate?.getTime() ?? 0);
    expect(took).toBe(90_000);
    const bad = await states.run(jsonata({ W, U }), { s: "soon" });
    expect(bad).toMatchObject({ status: "FAILED", error: "States.QueryEvaluationError" });
  });

  it("gives the state its context", async () => {
    const A = { Type: "Pass", Output: "{% $states.context %}", End: true };
    const done = await states.run(jsonata({ A }), { n: 1 });
    const began = done.startDate?.toISOString();
    expect(output(done)).toEqual({
      Execution: {
        Id: done.executionArn,
        Name: done.name,
        Input: { n: 1 },
        RoleArn: "arn:aws:iam::000000000000:role/states",
        StartTime: began,
        RedriveCount: 0,
      },
      StateMachine: { Id: done.stateMachineArn, Name: done.stateMachineArn?.split(":").at(-1) },
      State: { Name: "A", EnteredTime: began, RetryCount: 0 },
    });
  });

  it("records a failed expression in the history, and Catch may handle it", async () => {
    const A = lambda("echo", {
      Output: "{% $states.result.none %}",
      Catch: [{ ErrorEquals: ["States.QueryEvaluationError"], Next: "B" }],
    });
    const done = await states.run(jsonata({ A, B: { Type: "Pass", End: true } }));
    const cause =
      "An error occurred while executing the state 'A' (entered at the event id #2). The JSONata expression '$states.result.none' specified for the field 'Output' returned nothing (undefined).";
    expect(output(done)).toEqual({ Error: "States.QueryEvaluationError", Cause: cause });
    const events = await states.history(done.executionArn as string);
    expect(events.find(({ type }) => type === "EvaluationFailed")?.evaluationFailedEventDetails).toEqual({
      error: "States.QueryEvaluationError",
      cause,
      location: "Output",
      state: "A",
    });
  });
});
