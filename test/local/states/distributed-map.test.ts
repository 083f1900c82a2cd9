import { stateMachineText } from "../../../state-machines/definition";
import { FunctionFailure, type Harness, jsonata, lambda, open, output } from "./support/harness";

let states: Harness;
const calls: unknown[] = [];
let hanging: (() => void)[] = [];
let aborted = 0;
const handlers = {
  echo: (payload: unknown) => {
    calls.push(payload);
    return payload;
  },
  failsOn: ({ n }: { n: number }) => (n === 2 ? new FunctionFailure({ errorType: "Two" }) : n),
  hangs: ({ n }: { n: number }, signal?: AbortSignal) =>
    new Promise((resolve, reject) => {
      hanging.push(() => resolve(n));
      signal?.addEventListener("abort", () => {
        aborted += 1;
        reject(new Error("aborted"));
      });
    }),
};
beforeEach(async () => {
  calls.length = aborted = 0;
  hanging = [];
  states = await open(handlers);
});
afterEach(() => states.close());

const distributed = (inner: object, more: object = {}) =>
  jsonata({
    M: {
      Type: "Map",
      Label: "Parts",
      ItemProcessor: {
        ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
        StartAt: Object.keys(inner)[0],
        States: inner,
      },
      ...more,
      ...("Next" in more ? {} : { End: true }),
    },
    ...("Next" in more ? { Caught: { Type: "Pass", End: true } } : {}),
  });
const call = (name: string) => ({ ...lambda(name), End: true });
const selected = {
  Items: "{% [0..$states.input.parts - 1] %}",
  ItemSelector: { n: "{% $states.context.Map.Item.Value %}", of: "{% $states.context.Execution.Input.parts %}" },
};

describe("a distributed Map", () => {
  it("runs an execution for each item, and returns their outputs in order", async () => {
    const done = await states.run(distributed({ P: call("echo") }, selected), { parts: 3 });
    expect(done).toMatchObject({ status: "SUCCEEDED" });
    expect(output(done)).toEqual([0, 1, 2].map((n) => ({ n, of: 3 })));
    expect(calls).toHaveLength(3);
    const history = await states.history(done.executionArn as string);
    expect(history.map(({ type }) => type)).toEqual([
      "ExecutionStarted",
      "MapStateEntered",
      "MapStateStarted",
      "MapRunStarted",
      "MapRunSucceeded",
      "MapStateSucceeded",
      "MapStateExited",
      "ExecutionSucceeded",
    ]);
    const children = new Set(
      states.events.map(({ detail }) => (detail as { readonly executionArn: string }).executionArn),
    );
    children.delete(done.executionArn as string);
    expect(children.size).toBe(3);
    for (const arn of children) {
      expect(arn).toMatch(/:execution:machine-\d+\/Parts:[0-9a-f]{8}-[0-9a-f]{4}-/);
      const child = await states.describe(arn);
      expect(child).toMatchObject({
        status: "SUCCEEDED",
        stateMachineArn: expect.stringMatching(/machine-\d+\/Parts$/),
      });
      expect((await states.history(arn)).map(({ type }) => type)).toContain("TaskSucceeded");
    }
  });

  it("fails with the first failure of a child, which Catch handles", async () => {
    const caught = {
      Catch: [{ ErrorEquals: ["States.ExceedToleratedFailureThreshold"], Next: "Caught" }],
      Next: "Caught",
    };
    const done = await states.run(distributed({ P: call("failsOn") }, { ...selected, ...caught }), { parts: 5 });
    expect(output(done)).toEqual({
      Error: "States.ExceedToleratedFailureThreshold",
      Cause: "The specified tolerated failure threshold was exceeded",
    });
    const types = (await states.history(done.executionArn as string)).map(({ type }) => type);
    expect(types.slice(3, 7)).toEqual(["MapRunStarted", "MapRunFailed", "MapStateFailed", "MapStateExited"]);
  });

  it("runs the rounds of a large dataset, in the state machine of a run", async () => {
    const made: unknown[] = [];
    const rounds = { "validate-dataset": ["v"], "prepare-features": ["fit", "encode"] };
    const inRounds = (name: keyof typeof rounds) => (payload: { readonly runId: string; readonly task?: object }) => {
      made.push([name, payload]);
      if (payload.task) return { done: true };
      const round = rounds[name].shift();
      return round === undefined ? { rows: 7 } : { pending: { round, parts: 2 } };
    };
    await states.close();
    states = await open({
      "validate-dataset": inRounds("validate-dataset"),
      "prepare-features": inRounds("prepare-features"),
      "launch-training": () => new FunctionFailure({ errorType: "THE_END" }),
      "conclude-run": (payload: unknown) => made.push(["conclude-run", payload]),
    });
    const definition = JSON.parse(stateMachineText().replace(/\$\{([a-z-]+)\}/g, "$1")) as object;
    const done = await states.run(definition, { runId: "r1" });
    expect(done).toMatchObject({ status: "FAILED", error: "THE_END" });
    const call = (name: string, round?: string) =>
      round === undefined
        ? [[name, { runId: "r1" }]]
        : [0, 1].map((part) => [name, { runId: "r1", task: { round, part } }]);
    expect(made.slice(0, -1)).toEqual([
      ...call("validate-dataset"),
      ...call("validate-dataset", "v"),
      ...call("validate-dataset"),
      ...call("prepare-features"),
      ...call("prepare-features", "fit"),
      ...call("prepare-features"),
      ...call("prepare-features", "encode"),
      ...call("prepare-features"),
    ]);
  });

  it("stops its children when it is stopped", async () => {
    const arn = await states.start(distributed({ P: call("hangs") }, selected), { parts: 2 });
    await states.settle();
    expect(hanging.length).toBeGreaterThan(0);
    await states.client.stopExecution({ executionArn: arn });
    await states.settle();
    expect(aborted).toBe(hanging.length);
    const ends = states.events.map(({ detail }) => (detail as { readonly status: string }).status);
    expect(ends.filter((status) => status === "ABORTED")).toHaveLength(1 + hanging.length);
  });

  it("continues after a restart, and repeats no child that has ended", async () => {
    const arn = await states.start(distributed({ P: call("hangs") }, { ...selected, MaxConcurrency: 1 }), { parts: 3 });
    await states.settle();
    expect(hanging).toHaveLength(1);
    hanging[0]!();
    await states.settle();
    expect(hanging).toHaveLength(2);
    const again: number[] = [];
    states = await states.restart({
      hangs: ({ n }: { n: number }) => {
        again.push(n);
        return n;
      },
    });
    await states.advance(1_000);
    expect(await states.describe(arn)).toMatchObject({ status: "SUCCEEDED" });
    expect(again).toEqual([1, 2]);
  });
});
