import { createStepFunctions } from "../../../local/states";
import { FunctionFailure, type Harness, invoker, jsonata, lambda, open, output, waitForToken } from "./support/harness";

let states: Harness;
let calls: unknown[] = [];
let tokens: string[] = [];
let release: (value: unknown) => void = () => undefined;
const handlers = {
  count: (payload: unknown) => {
    calls.push(payload);
    return calls.length;
  },
  held: (payload: unknown) => {
    calls.push(payload);
    return new Promise((resolve) => {
      release = resolve;
    });
  },
  fails: () => {
    calls.push("failed");
    return new FunctionFailure({ errorType: "E" });
  },
  ask: ({ token }: { token: string }) => {
    tokens.push(token);
  },
};
beforeEach(async () => {
  calls = [];
  tokens = [];
  states = await open(handlers);
});
afterEach(() => states.close());

const status = async (arn: string) => (await states.describe(arn)).status;

describe("after a restart", () => {
  it("a Wait ends at its time, however long the service was down", async () => {
    const arn = await states.start(jsonata({ W: { Type: "Wait", Seconds: 60, End: true } }));
    await states.advance(30_000);
    states = await states.restart();
    await states.advance(29_999);
    expect(await status(arn)).toBe("RUNNING");
    await states.advance(1);
    expect(await status(arn)).toBe("SUCCEEDED");
    const late = await states.start(jsonata({ W: { Type: "Wait", Seconds: 60, End: true } }));
    await states.settle();
    await states.shut();
    states.clock.turn(states.clock.now() + 3_600_000);
    states = await open(handlers, { directory: states.directory, clock: states.clock });
    await states.settle();
    expect(await status(late)).toBe("SUCCEEDED");
  });

  it("a function whose result was recorded is not called again", async () => {
    const arn = await states.start(
      jsonata({ A: lambda("count", { End: undefined, Next: "W" }), W: { Type: "Wait", Seconds: 60, End: true } }),
    );
    await states.settle();
    states = await states.restart();
    await states.advance(60_000);
    expect(output(await states.describe(arn))).toBe(1);
    expect(calls).toHaveLength(1);
  });

  it("a function whose result was not recorded is called again, with the same payload", async () => {
    const A = lambda("held", { Arguments: { FunctionName: "held", Payload: "{% $uuid() %}" } });
    const arn = await states.start(jsonata({ A }));
    await states.settle();
    states = await states.restart();
    await states.settle();
    expect(calls).toHaveLength(2);
    expect(calls[1]).toBe(calls[0]);
    release("done");
    await states.settle();
    expect(output(await states.describe(arn))).toBe("done");
  });

  it("a token is still valid, its function is not called again, and heartbeats restart", async () => {
    const arn = await states.start(jsonata({ A: waitForToken("ask", { HeartbeatSeconds: 60 }) }));
    await states.advance(59_000);
    states = await states.restart();
    await states.advance(59_000);
    expect(await status(arn)).toBe("RUNNING");
    await states.client.sendTaskHeartbeat({ taskToken: tokens[0] });
    await states.client.sendTaskSuccess({ taskToken: tokens[0], output: "1" });
    await states.settle();
    expect(output(await states.describe(arn))).toBe(1);
    expect(tokens).toHaveLength(1);
  });

  it("an acknowledged token is not lost", async () => {
    const W = { Type: "Wait", Seconds: 60, End: true };
    const arn = await states.start(jsonata({ A: waitForToken("ask", { End: undefined, Next: "W" }), W }));
    await states.settle();
    await states.client.sendTaskSuccess({ taskToken: tokens[0], output: "1" });
    states = await states.restart();
    await states.advance(60_000);
    expect(output(await states.describe(arn))).toBe(1);
  });

  it("retries continue their count, and do not wait longer than before", async () => {
    const Retry = [{ ErrorEquals: ["E"], IntervalSeconds: 10, MaxAttempts: 2, BackoffRate: 1 }];
    const arn = await states.start(jsonata({ A: lambda("fails", { Retry }) }));
    for (let i = 0; i < 3; i += 1) {
      await states.advance(6_000);
      states = await states.restart();
    }
    await states.advance(2_000);
    expect(calls).toHaveLength(3);
    expect(await status(arn)).toBe("FAILED");
  });

  it("timeouts of a task and of the execution count from their beginning", async () => {
    const task = await states.start(jsonata({ A: waitForToken("ask", { TimeoutSeconds: 60 }) }));
    const whole = await states.start(jsonata({ W: { Type: "Wait", Seconds: 600, End: true } }, { TimeoutSeconds: 60 }));
    await states.advance(40_000);
    states = await states.restart();
    await states.advance(19_999);
    expect([await status(task), await status(whole)]).toEqual(["RUNNING", "RUNNING"]);
    await states.advance(1);
    expect([await status(task), await status(whole)]).toEqual(["FAILED", "TIMED_OUT"]);
  });

  it("a Map continues with the unfinished iterations", async () => {
    const T = lambda("count", {
      Arguments: { FunctionName: "count", Payload: "{% $states.input %}" },
      Output: "{% $states.input * 10 %}",
    });
    const W = { Type: "Wait", Seconds: "{% $states.input * 10 %}", Next: "T" };
    const M = { Type: "Map", ItemProcessor: { StartAt: "W", States: { W, T } }, End: true };
    const arn = await states.start(jsonata({ M }), [1, 2, 3]);
    await states.advance(20_000);
    states = await states.restart();
    await states.advance(10_000);
    expect(output(await states.describe(arn))).toEqual([10, 20, 30]);
    expect(calls).toEqual([1, 2, 3]);
  });

  it("the same start is still the same execution", async () => {
    const definition = jsonata({ W: { Type: "Wait", Seconds: 60, End: true } });
    const arn = await states.start(definition, { a: 1 }, "e");
    states = await states.restart();
    const { startDate, stateMachineArn } = await states.describe(arn);
    const { StartExecutionCommand } = await import("@aws-sdk/client-sfn");
    const again = await states.client.send(new StartExecutionCommand({ stateMachineArn, name: "e", input: '{"a":1}' }));
    expect(again).toMatchObject({ executionArn: arn, startDate });
  });
});

it("running executions wait until the functions are ready", async () => {
  await states.start(jsonata({ A: lambda("held") }));
  await states.settle();
  await states.shut();
  let ready: (value?: unknown) => void = () => undefined;
  const service = await createStepFunctions({
    dataDirectory: states.directory,
    functions: invoker(handlers),
    events: { put: () => undefined },
    clock: states.clock,
    ready: new Promise((resolve) => {
      ready = resolve;
    }),
  });
  await service.idle();
  expect(calls).toHaveLength(1);
  ready();
  await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 50 && calls.length < 2; i += 1) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(calls).toHaveLength(2);
  await service.close();
  states = await open(handlers, { directory: states.directory });
});
