import type { HistoryEvent } from "@aws-sdk/client-sfn";
import { rounds } from "../../support/rounds";
import { FunctionFailure, type Harness, jsonata, lambda, open, output } from "./support/harness";

let states: Harness;
let running = 0;
let most = 0;
let aborted = 0;
beforeEach(async () => {
  running = most = aborted = 0;
  states = await open({
    echo: (payload: unknown) => payload,
    fails: () => new FunctionFailure({ errorType: "Teapot" }),
    failsOn: (n: number) => (n === 2 ? new FunctionFailure({ errorType: "Two" }) : n),
    counted: async (n: number) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return n;
    },
    hangs: (_payload, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          aborted += 1;
          reject(new Error("aborted"));
        });
      }),
  });
});
afterEach(() => states.close());

const flow = (of: object) => ({ StartAt: Object.keys(of)[0], States: of });
const pass = (more: object = {}) => ({ Type: "Pass", End: true, ...more });
const map = (inner: object, more: object = {}) => ({ Type: "Map", ItemProcessor: flow(inner), End: true, ...more });
const shape = (events: readonly HistoryEvent[]) =>
  events.map(({ id, previousEventId, type }) => `${id}<${previousEventId} ${type}`);

describe("Map", () => {
  it("shows in the history as on AWS: iterations start all at once", async () => {
    const done = await states.run(jsonata({ M: map({ P: pass({ Output: "{% $states.input * 10 %}" }) }) }), [1, 2]);
    expect(output(done)).toEqual([10, 20]);
    expect(shape(await states.history(done.executionArn as string))).toEqual([
      "1<0 ExecutionStarted",
      "2<0 MapStateEntered",
      "3<2 MapStateStarted",
      "4<3 MapIterationStarted",
      "5<3 MapIterationStarted",
      "6<4 PassStateEntered",
      "7<6 PassStateExited",
      "8<7 MapIterationSucceeded",
      "9<5 PassStateEntered",
      "10<9 PassStateExited",
      "11<10 MapIterationSucceeded",
      "12<10 MapStateSucceeded",
      "13<12 MapStateExited",
      "14<13 ExecutionSucceeded",
    ]);
  });

  it.each([
    ["a literal", 2, 2],
    ["an expression", "{% 3 %}", 3],
    ["no limit", 0, 12],
  ])("runs at most MaxConcurrency at once: %s", async (_title, MaxConcurrency, expected) => {
    const M = map({ T: lambda("counted") }, { MaxConcurrency });
    const items = Array.from({ length: 12 }, (_, i) => i);
    expect(output(await states.run(jsonata({ M }), items))).toEqual(items);
    expect(most).toBe(expected);
  });

  it("of nothing gives an empty list; of an object its entries; of anything else fails", async () => {
    const M = map({ P: pass() }, { Items: "{% $states.input.of %}" });
    expect(output(await states.run(jsonata({ M }), { of: [] }))).toEqual([]);
    expect(output(await states.run(jsonata({ M }), { of: { a: 1 } }))).toEqual([{ Key: "a", Value: 1 }]);
    expect(await states.run(jsonata({ M }), { of: 7 })).toMatchObject({
      status: "FAILED",
      error: "States.QueryEvaluationError",
    });
  });

  it("gives each item to ItemSelector, with its index, and to the states inside", async () => {
    const inner = pass({ Output: ["{% $states.input %}", "{% $states.context.Map.Item.Index %}"] });
    const ItemSelector = { v: "{% $states.context.Map.Item.Value %}", n: "{% $states.input.n %}" };
    const M = map({ P: inner }, { Items: "{% $states.input.l %}", ItemSelector });
    expect(output(await states.run(jsonata({ M }), { l: ["a", "b"], n: 9 }))).toEqual([
      [{ v: "a", n: 9 }, 0],
      [{ v: "b", n: 9 }, 1],
    ]);
  });

  it("fails with its first failing iteration and aborts the others", async () => {
    const T = { Type: "Choice", Choices: [{ Condition: "{% $states.input = 0 %}", Next: "W" }], Default: "H" };
    const W = { Type: "Wait", Seconds: 1, Next: "F" };
    const M = map(
      { T, W, F: { Type: "Fail", Error: "Boom", Cause: "why" }, H: lambda("hangs") },
      { MaxConcurrency: 2 },
    );
    const Catch = [{ ErrorEquals: ["Boom"], Next: "After" }];
    const done = await states.run(jsonata({ M: { ...M, Catch }, After: pass() }), [1, 0, 5]);
    expect(output(done)).toEqual({ Error: "Boom", Cause: "why" });
    expect(aborted).toBe(1);
    const events = shape(await states.history(done.executionArn as string));
    expect(events.slice(-9).map((each) => each.split(" ")[1])).toEqual([
      "FailStateEntered",
      "MapIterationFailed",
      "MapIterationAborted",
      "TaskStateAborted",
      "MapStateFailed",
      "MapStateExited",
      "PassStateEntered",
      "PassStateExited",
      "ExecutionSucceeded",
    ]);
  });

  it("is retried as a whole", async () => {
    const M = map({ T: lambda("failsOn") }, { Retry: [{ ErrorEquals: ["Two"], MaxAttempts: 1 }] });
    const done = await states.run(jsonata({ M }), [2]);
    expect(done).toMatchObject({ status: "FAILED", error: "Two" });
    const types = (await states.history(done.executionArn as string)).map(({ type }) => type);
    expect(types.filter((type) => type === "MapStateStarted")).toHaveLength(2);
    expect(types.filter((type) => type === "MapStateFailed")).toHaveLength(1);
  });

  it("nests", async () => {
    const inner = map({ P: pass({ Output: "{% $states.input & $outer %}" }) });
    const outer = map({
      A: { Type: "Pass", Assign: { outer: "{% $states.context.Map.Item.Index %}" }, Next: "M2" },
      M2: inner,
    });
    expect(output(await states.run(jsonata({ M: outer }), [["a", "b"], ["c"]]))).toEqual([["a0", "b0"], ["c1"]]);
  });
});

describe("Parallel", () => {
  it("gives its branches Arguments and collects their outputs in order", async () => {
    const slow = {
      W: { Type: "Wait", Seconds: 10, Next: "P1" },
      P1: pass({ Output: "{% 'slow' & $states.input.n %}" }),
    };
    const P = {
      Type: "Parallel",
      Arguments: { n: "{% $states.input.n + 1 %}" },
      Branches: [flow(slow), flow({ P2: pass() })],
      End: true,
    };
    const done = await states.run(jsonata({ P }), { n: 1 });
    expect(output(done)).toEqual(["slow2", { n: 2 }]);
    expect(shape(await states.history(done.executionArn as string))).toEqual([
      "1<0 ExecutionStarted",
      "2<0 ParallelStateEntered",
      "3<2 ParallelStateStarted",
      "4<3 WaitStateEntered",
      "5<3 PassStateEntered",
      "6<5 PassStateExited",
      "7<4 WaitStateExited",
      "8<7 PassStateEntered",
      "9<8 PassStateExited",
      "10<9 ParallelStateSucceeded",
      "11<10 ParallelStateExited",
      "12<11 ExecutionSucceeded",
    ]);
  });

  it("fails with its first failing branch, aborts the rest, retries and catches", async () => {
    const Branches = [flow({ H: lambda("hangs") }), flow({ F: lambda("fails") })];
    const Retry = [{ ErrorEquals: ["Teapot"], MaxAttempts: 1 }];
    const P = { Type: "Parallel", Branches, Retry, Catch: [{ ErrorEquals: ["States.ALL"], Next: "After" }], End: true };
    const done = await states.run(jsonata({ P: { ...P, End: undefined, Next: "After" }, After: pass() }));
    expect(output(done)).toMatchObject({ Error: "Teapot" });
    expect(aborted).toBe(2);
    const types = (await states.history(done.executionArn as string)).map(({ type }) => type);
    expect(types.filter((type) => type === "ParallelStateStarted")).toHaveLength(2);
    expect(types.filter((type) => type === "TaskStateAborted")).toHaveLength(4);
    expect(types.filter((type) => type === "ParallelStateFailed")).toHaveLength(1);
  });

  it("passes an uncaught failure through every level", async () => {
    const deep = { Type: "Parallel", Branches: [flow({ M: map({ F: lambda("fails") }, { Items: [1] }) })], End: true };
    expect(await states.run(jsonata({ P: deep }))).toMatchObject({ status: "FAILED", error: "Teapot" });
  });

  it("keeps a caught failure within its branch", async () => {
    const F = lambda("fails", { Catch: [{ ErrorEquals: ["States.ALL"], Next: "C", Output: "caught" }] });
    const P = { Type: "Parallel", Branches: [flow({ F, C: pass() }), flow({ Q: pass() })], End: true };
    expect(output(await states.run(jsonata({ P }), 1))).toEqual(["caught", 1]);
  });
});

it("runs many concurrent executions", async () => {
  const flowOf = jsonata({ W: { Type: "Wait", Seconds: 1, Next: "T" }, T: lambda("echo") });
  const arns = await Promise.all(Array.from({ length: rounds(40) }, (_, n) => states.start(flowOf, { n })));
  await states.advance(1000);
  const results = await Promise.all(arns.map(async (arn) => output(await states.describe(arn))));
  expect(results).toEqual(arns.map((_, n) => ({ n })));
});
