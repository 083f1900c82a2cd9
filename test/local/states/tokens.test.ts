import { FunctionFailure, type Harness, jsonata, open, output, waitForToken } from "./support/harness";

let states: Harness;
let tokens: string[] = [];
const handlers = {
  ask: ({ token }: { token: string }) => {
    tokens.push(token);
    return "waiting";
  },
  refuses: () => new FunctionFailure({ errorType: "Refused" }),
};
beforeEach(async () => {
  tokens = [];
  states = await open(handlers);
});
afterEach(() => states.close());

const succeed = (taskToken: string | undefined, text = "{}") =>
  states.client.sendTaskSuccess({ taskToken, output: text });
const fail = (taskToken: string | undefined, more: object = {}) =>
  states.client.sendTaskFailure({ taskToken, ...more });
const beat = (taskToken: string | undefined) => states.client.sendTaskHeartbeat({ taskToken });

describe("a task that waits for its token", () => {
  it("continues with the output that is sent with the token", async () => {
    const arn = await states.start(jsonata({ A: waitForToken("ask", { Output: "{% $states.result.answer %}" }) }));
    await states.advance(3_600_000);
    expect(await states.describe(arn)).toMatchObject({ status: "RUNNING" });
    await succeed(tokens[0], '{"answer":42}');
    await states.settle();
    expect(output(await states.describe(arn))).toBe(42);
    expect((await states.history(arn)).map(({ type }) => type)).toEqual([
      ...["ExecutionStarted", "TaskStateEntered", "TaskScheduled", "TaskStarted", "TaskSubmitted"],
      ...["TaskSucceeded", "TaskStateExited", "ExecutionSucceeded"],
    ]);
  });

  it("fails with the error that is sent with the token, or with none", async () => {
    const Catch = [{ ErrorEquals: ["States.ALL"], Next: "B" }];
    const flow = jsonata({ A: waitForToken("ask", { Catch }), B: { Type: "Pass", End: true } });
    const arns = [await states.start(flow), await states.start(flow)];
    await states.settle();
    await fail(tokens[0], { error: "Denied", cause: "no budget" });
    await fail(tokens[1]);
    await states.settle();
    expect(output(await states.describe(arns[0] as string))).toEqual({ Error: "Denied", Cause: "no budget" });
    expect(output(await states.describe(arns[1] as string))).toEqual({ Error: null, Cause: null });
  });

  it("fails when its function does, and its token is then invalid", async () => {
    const done = await states.run(jsonata({ A: waitForToken("refuses") }));
    expect(done).toMatchObject({ status: "FAILED", error: "Refused" });
  });

  it("may be answered before its function has returned", async () => {
    let answered: Promise<unknown> = Promise.resolve();
    states = await states.restart({
      eager: async ({ token }: { token: string }) => {
        answered = succeed(token, '"early"');
        await answered;
        return "late";
      },
    });
    expect(output(await states.run(jsonata({ A: waitForToken("eager") })))).toBe("early");
    await answered;
  });

  it("is kept alive by heartbeats", async () => {
    const arn = await states.start(jsonata({ A: waitForToken("ask", { HeartbeatSeconds: 10 }) }));
    for (let i = 0; i < 5; i += 1) {
      await states.advance(9_000);
      await beat(tokens[0]);
    }
    expect(await states.describe(arn)).toMatchObject({ status: "RUNNING" });
    await states.advance(10_000);
    expect(await states.describe(arn)).toMatchObject({ status: "FAILED", error: "States.Timeout" });
    await expect(beat(tokens[0])).rejects.toMatchObject({ name: "TaskTimedOut" });
  });

  it("gets a new token for every retry; the old one is invalid", async () => {
    const arn = await states.start(jsonata({ A: waitForToken("ask", { Retry: [{ ErrorEquals: ["Again"] }] }) }));
    await states.settle();
    await fail(tokens[0], { error: "Again" });
    await states.advance(1000);
    expect(new Set(tokens).size).toBe(2);
    await expect(succeed(tokens[0])).rejects.toMatchObject({ name: "TaskTimedOut" });
    await succeed(tokens[1], '"second"');
    await states.settle();
    expect(output(await states.describe(arn))).toBe("second");
  });

  it.each([
    ["nonsense", () => "nonsense", "{}", "InvalidToken"],
    ["a token of no execution", () => Buffer.from('[1,"m","e","","x"]').toString("base64"), "{}", "TaskDoesNotExist"],
    ["a forged token of a running one", () => forged(tokens[0]), "{}", "TaskTimedOut"],
    ["an output that is no JSON", () => tokens[0], "{", "InvalidOutput"],
  ])("refuses %s", async (_title, token, text, error) => {
    await states.start(jsonata({ A: waitForToken("ask") }));
    await states.settle();
    await expect(succeed(token(), text)).rejects.toMatchObject({ name: error });
  });
});

function forged(token: string | undefined): string {
  const parts = JSON.parse(Buffer.from(token ?? "", "base64").toString()) as unknown[];
  return Buffer.from(JSON.stringify([...parts.slice(0, 4), "guess"])).toString("base64");
}

describe("events", () => {
  const statuses = () => states.events.map(({ detail }) => (detail as { status: string }).status);

  it("report the start and the end, as on AWS", async () => {
    const arn = await states.start(jsonata({ A: { Type: "Pass", Output: { b: 2 }, End: true } }), { a: 1 }, "e");
    await states.settle();
    const { stateMachineArn } = await states.describe(arn);
    const now = states.clock.now();
    expect(states.events).toMatchObject([
      { detail: { status: "RUNNING", stopDate: null, output: null } },
      {
        source: "aws.states",
        detailType: "Step Functions Execution Status Change",
        resources: [arn],
        detail: {
          executionArn: arn,
          stateMachineArn,
          name: "e",
          status: "SUCCEEDED",
          startDate: now,
          stopDate: now,
          input: '{"a":1}',
          inputDetails: { included: true },
          output: '{"b":2}',
        },
      },
    ]);
  });

  it.each([
    ["FAILED", { F: { Type: "Fail", Error: "E" } }, {}],
    ["TIMED_OUT", { W: { Type: "Wait", Seconds: 100, End: true } }, { TimeoutSeconds: 10 }],
  ])("tell of %s", async (status, flow, more) => {
    await states.run(jsonata(flow, more));
    expect(statuses()).toEqual(["RUNNING", status]);
  });

  it("are not published again after a restart", async () => {
    await states.start(jsonata({ F: { Type: "Fail" } }));
    await states.settle();
    expect(statuses()).toEqual(["RUNNING", "FAILED"]);
    states = await states.restart();
    await states.settle();
    expect(statuses()).toEqual([]);
  });
});

it("a function that is called asynchronously is not implemented", async () => {
  const Arguments = { FunctionName: "ask", InvocationType: "Event" };
  const A = { Type: "Task", Resource: "arn:aws:states:::lambda:invoke", Arguments, End: true };
  expect(await states.run(jsonata({ A }))).toMatchObject({ status: "FAILED", error: "States.Runtime" });
});
