import { decideRetry, matches, retryDelay } from "../../../local/states/engine/retry";
import {
  FunctionFailure,
  type Handlers,
  type Harness,
  jsonata,
  lambda,
  open,
  output,
  waitForToken,
} from "./support/harness";

const failing = (errorType: string) => () => new FunctionFailure({ errorType, errorMessage: "no" });
const caught = { Type: "Pass", End: true };

let states: Harness;
let invocations: string[] = [];
const handlers: Handlers = {
  teapot: failing("Teapot"),
  nameless: () => new FunctionFailure("gone"),
  busy: () => {
    throw Object.assign(new Error("slow down"), { name: "TooManyRequestsException" });
  },
  unreachable: () => {
    throw new Error("ECONNREFUSED");
  },
  big: () => "x".repeat(262_144),
  silent: () => undefined,
  hangs: (_payload, signal) =>
    new Promise((_resolve, reject) => {
      invocations.push("started");
      signal?.addEventListener("abort", () => {
        invocations.push("aborted");
        reject(new Error("aborted"));
      });
    }),
};
beforeEach(async () => {
  invocations = [];
  states = await open(handlers);
});
afterEach(() => states.close());

describe("an error name in ErrorEquals", () => {
  it.each([
    ["States.ALL", { error: "Teapot" }, true],
    ["States.ALL", { error: "States.Timeout" }, true],
    ["States.ALL", { error: "States.DataLimitExceeded" }, true],
    ["States.ALL", {}, true],
    ["States.ALL", { error: "States.Runtime" }, false],
    ["States.Runtime", { error: "States.Runtime" }, true],
    ["States.TaskFailed", { error: "Teapot" }, true],
    ["States.TaskFailed", { error: "States.Timeout" }, false],
    ["States.Timeout", { error: "States.Timeout", heartbeat: true }, true],
    ["States.HeartbeatTimeout", { error: "States.Timeout", heartbeat: true }, true],
    ["States.HeartbeatTimeout", { error: "States.Timeout" }, false],
    ["Teapot", { error: "teapot" }, false],
  ])("%s against %j: %s", (name, failure, expected) => {
    expect(matches([name], failure)).toBe(expected);
  });
});

describe("a retrier", () => {
  it.each([
    ["defaults to 1 s, doubled", {}, [1, 2, 4, 8]],
    ["takes interval and rate", { IntervalSeconds: 3, BackoffRate: 1.5 }, [3, 4.5, 6.75, 10.125]],
    ["is capped by MaxDelaySeconds", { IntervalSeconds: 3, MaxDelaySeconds: 5 }, [3, 5, 5, 5]],
    ["scales by chance under full jitter", { IntervalSeconds: 4, JitterStrategy: "FULL" as const }, [1, 2, 4, 8]],
  ])("%s", (_title, fields, delays) => {
    const retrier = { ErrorEquals: ["States.ALL"], ...fields };
    expect([0, 1, 2, 3].map((attempt) => retryDelay(retrier, attempt, 0.25))).toEqual(delays);
  });

  it("is the first that names the error, with attempts of its own", () => {
    const Retry = [
      { ErrorEquals: ["A"], MaxAttempts: 1 },
      { ErrorEquals: ["States.ALL"], IntervalSeconds: 7 },
    ];
    const state = { Type: "Task" as const, Retry };
    expect(decideRetry(state, { error: "A" }, [], 0)).toEqual({ retrier: 0, delaySeconds: 1 });
    expect(decideRetry(state, { error: "A" }, [1], 0)).toBeUndefined();
    expect(decideRetry(state, { error: "B" }, [1, 1], 0)).toEqual({ retrier: 1, delaySeconds: 14 });
    expect(decideRetry({ Type: "Task" }, { error: "A" }, [], 0)).toBeUndefined();
  });
});

describe("a Lambda task's failure", () => {
  const cause = '{"errorType":"Teapot","errorMessage":"no"}';
  it.each([
    ["teapot", "Teapot", cause],
    ["nameless", "Lambda.Unknown", '"gone"'],
    ["busy", "Lambda.TooManyRequestsException", expect.stringContaining("slow down")],
    ["unreachable", "Lambda.ServiceException", expect.stringContaining("ECONNREFUSED")],
    ["missing", "Lambda.ResourceNotFoundException", expect.stringContaining("Function not found: missing")],
    ["big", "States.DataLimitExceeded", expect.stringContaining("The state/task 'lambda' returned a result")],
  ])("of %s is %s", async (name, error, why) => {
    const done = await states.run(jsonata({ A: lambda(name) }));
    expect(done).toMatchObject({ status: "FAILED", error, cause: why });
  });

  it("is caught with its Error and Cause; Output and Assign are the catcher's", async () => {
    const Catch = [
      { ErrorEquals: ["Other"], Next: "B" },
      {
        ErrorEquals: ["States.TaskFailed"],
        Next: "B",
        Output: { was: "{% $states.errorOutput %}", input: "{% $states.input %}" },
        Assign: { name: "{% $states.errorOutput.Error %}" },
      },
    ];
    const B = { Type: "Pass", Output: { seen: "{% $states.input %}", name: "{% $name %}" }, End: true };
    const done = await states.run(jsonata({ A: lambda("teapot", { Catch }), B }), { n: 1 });
    expect(output(done)).toEqual({ seen: { was: { Error: "Teapot", Cause: cause }, input: { n: 1 } }, name: "Teapot" });
  });

  it("in a catcher's own Output ends the execution", async () => {
    const Catch = [{ ErrorEquals: ["States.ALL"], Next: "B", Output: "{% $states.input.none %}" }];
    const done = await states.run(jsonata({ A: lambda("teapot", { Catch }), B: caught }));
    expect(done).toMatchObject({ status: "FAILED", error: "States.QueryEvaluationError" });
    expect(done.cause).toContain("specified for the field 'Catch[0]/Output' returned nothing (undefined)");
  });
});

it("retries with growing delays, then catches", async () => {
  const Retry = [{ ErrorEquals: ["Teapot"], IntervalSeconds: 10, MaxAttempts: 2 }];
  const task = lambda("teapot", { Retry, Catch: [{ ErrorEquals: ["States.ALL"], Next: "B" }] });
  const done = await states.run(jsonata({ A: task, B: caught }));
  const began = done.startDate?.getTime() ?? 0;
  const history = await states.history(done.executionArn as string);
  const scheduled = history.filter(({ type }) => type === "TaskScheduled");
  expect(scheduled.map(({ timestamp }) => (timestamp?.getTime() ?? 0) - began)).toEqual([0, 10_000, 30_000]);
  expect(output(done)).toMatchObject({ Error: "Teapot" });
});

it("shows a task how often it was retried", async () => {
  const seen: unknown[] = [];
  states = await states.restart({
    count: ({ retry }: { retry: number }) => {
      seen.push(retry);
      return retry < 2 ? new FunctionFailure({ errorType: "E" }) : retry;
    },
  });
  const Arguments = { FunctionName: "count", Payload: { retry: "{% $states.context.State.RetryCount %}" } };
  const task = lambda("count", { Arguments, Retry: [{ ErrorEquals: ["E"] }] });
  expect(output(await states.run(jsonata({ A: task })))).toBe(2);
  expect(seen).toEqual([0, 1, 2]);
});

describe("a timeout", () => {
  const onTimeout = (name: string) => [{ ErrorEquals: [name], Next: "B" }];

  it("of a task aborts its invocation", async () => {
    const task = lambda("hangs", { TimeoutSeconds: "{% $states.input.limit %}", Catch: onTimeout("States.Timeout") });
    const arn = await states.start(jsonata({ A: task, B: caught }), { limit: 30 });
    await states.advance(29_999);
    expect(invocations).toEqual(["started"]);
    await states.advance(1);
    expect(invocations).toEqual(["started", "aborted"]);
    expect(output(await states.describe(arn))).toEqual({ Error: "States.Timeout", Cause: "" });
    const history = await states.history(arn);
    expect(history.find(({ type }) => type === "TaskScheduled")?.taskScheduledEventDetails).toMatchObject({
      timeoutInSeconds: 30,
    });
    expect(history.find(({ type }) => type === "TaskTimedOut")?.taskTimedOutEventDetails).toEqual({
      resourceType: "lambda",
      resource: "invoke",
      error: "States.Timeout",
    });
  });

  it("uncaught fails the execution, without a cause", async () => {
    const done = await states.run(jsonata({ A: lambda("hangs", { TimeoutSeconds: 5 }) }));
    expect(done).toMatchObject({ status: "FAILED", error: "States.Timeout" });
    expect(done.cause).toBeUndefined();
  });

  it("of a heartbeat is named so", async () => {
    const task = waitForToken("silent", {
      HeartbeatSeconds: 20,
      TimeoutSeconds: 600,
      Catch: onTimeout("States.HeartbeatTimeout"),
    });
    const arn = await states.start(jsonata({ A: task, B: caught }));
    await states.advance(19_999);
    expect(await states.describe(arn)).toMatchObject({ status: "RUNNING" });
    await states.advance(1);
    expect(await states.describe(arn)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("of the whole execution ends it as TIMED_OUT, and aborts running tasks", async () => {
    const arn = await states.start(jsonata({ A: lambda("hangs") }, { TimeoutSeconds: 90 }));
    await states.advance(90_000);
    const done = await states.describe(arn);
    expect(done).toMatchObject({ status: "TIMED_OUT", stopDate: new Date(states.clock.now()) });
    expect(done.error).toBeUndefined();
    expect((await states.history(arn)).at(-1)).toMatchObject({
      type: "ExecutionTimedOut",
      previousEventId: 0,
      executionTimedOutEventDetails: { error: "States.Timeout" },
    });
    expect(invocations).toEqual(["started", "aborted"]);
  });
});

it("ends a flow without end at 25,000 events, the failure included", async () => {
  const loop = { Type: "Choice", Choices: [{ Condition: "{% true %}", Next: "Loop" }] };
  const done = await states.run(jsonata({ Loop: loop }));
  expect(done).toMatchObject({
    status: "FAILED",
    error: "States.Runtime",
    cause: "The execution reached the maximum number of history events (25000).",
  });
  const { GetExecutionHistoryCommand } = await import("@aws-sdk/client-sfn");
  const { events } = await states.client.send(
    new GetExecutionHistoryCommand({ executionArn: done.executionArn, reverseOrder: true, maxResults: 2 }),
  );
  expect(events).toMatchObject([
    { id: 25_000, previousEventId: 24_999, type: "ExecutionFailed" },
    { id: 24_999, previousEventId: 24_998, type: "ChoiceStateExited" },
  ]);
});

it("fails a state whose output is past 256 KiB", async () => {
  const grow = { Type: "Pass", Output: "{% $states.input & $states.input %}", End: true };
  const done = await states.run(jsonata({ Grow: grow }), "x".repeat(200_000));
  expect(done).toMatchObject({
    status: "FAILED",
    error: "States.DataLimitExceeded",
    cause: "The state/task 'Grow' returned a result with a size exceeding the maximum number of bytes service limit.",
  });
});
