import { ClassicLevel } from "classic-level";
import { type Harness, jsonata, open, output, waitForToken } from "./support/harness";

let states: Harness;
let token: string | undefined;
let full = false;
const { batch } = ClassicLevel.prototype;

beforeEach(async () => {
  full = false;
  ClassicLevel.prototype.batch = function refusing(this: unknown, ...args: unknown[]) {
    return full ? Promise.reject(new Error("ENOSPC")) : Reflect.apply(batch, this, args);
  } as never;
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  states = await open({
    ask: (payload: { token: string }) => {
      token = payload.token;
    },
  });
});
afterEach(async () => {
  full = false;
  ClassicLevel.prototype.batch = batch;
  jest.restoreAllMocks();
  await states.close();
});

const flow = jsonata({ A: waitForToken("ask") });

describe("a full disk", () => {
  it("starts nothing, and reports it", async () => {
    const arn = await states.start(flow, {}, "first");
    const { stateMachineArn } = await states.describe(arn);
    full = true;
    const start = () => states.client.startExecution({ stateMachineArn, name: "second" });
    await expect(start()).rejects.toMatchObject({ name: "InternalFailure", $metadata: { httpStatusCode: 500 } });
    full = false;
    expect((await start()).executionArn).toMatch(/:second$/);
  });

  it("delays an execution, but does not fail it", async () => {
    const arn = await states.start(flow);
    await states.settle();
    full = true;
    const answer = () => states.client.sendTaskSuccess({ taskToken: token, output: "7" });
    await expect(answer()).rejects.toMatchObject({ name: "InternalFailure" });
    await states.advance(5000);
    expect(await states.describe(arn)).toMatchObject({ status: "RUNNING" });
    full = false;
    await states.advance(1000);
    expect(output(await states.describe(arn))).toBe(7);
  });
});
