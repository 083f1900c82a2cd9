import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DescribeExecutionOutput, type HistoryEvent, SFN } from "@aws-sdk/client-sfn";
import type { EmittedEvent, FunctionInvoker, FunctionResult } from "../../../../local/service";
import { createStepFunctions, type StepFunctions } from "../../../../local/states";
import { startServer } from "../../../support/web-server";
import { FakeClock } from "./clock";

export type Handler = (payload: never, signal?: AbortSignal) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;

export class FunctionFailure {
  constructor(readonly payload: unknown) {}
}

export function invoker(handlers: Handlers): Pick<FunctionInvoker, "invoke"> {
  return {
    async invoke(name, payload, signal): Promise<FunctionResult> {
      const handler = handlers[name];
      if (!handler)
        throw Object.assign(new Error(`Function not found: ${name}`), { name: "ResourceNotFoundException" });
      const result = await handler(payload as never, signal);
      return result instanceof FunctionFailure
        ? { payload: result.payload, functionError: "Unhandled" }
        : { payload: result };
    },
  };
}

export interface Harness {
  readonly client: SFN;
  readonly service: StepFunctions;
  readonly clock: FakeClock;
  readonly directory: string;
  readonly endpoint: string;
  readonly events: EmittedEvent[];
  start(definition: object, input?: unknown, name?: string): Promise<string>;
  advance(ms: number): Promise<void>;
  settle(): Promise<void>;
  describe(arn: string): Promise<DescribeExecutionOutput>;
  history(arn: string): Promise<HistoryEvent[]>;
  run(definition: object, input?: unknown): Promise<DescribeExecutionOutput>;
  restart(handlers?: Handlers): Promise<Harness>;
  shut(): Promise<void>;
  close(): Promise<void>;
}

let machines = 0;

export async function open(
  handlers: Handlers = {},
  options: { directory?: string; clock?: FakeClock } = {},
): Promise<Harness> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "states-"));
  const clock = options.clock ?? new FakeClock();
  const events: EmittedEvent[] = [];
  const { invoke } = invoker(handlers);
  let invocations = 0;
  const service = await createStepFunctions({
    dataDirectory: directory,
    functions: {
      invoke(...call) {
        invocations += 1;
        return invoke(...call);
      },
    },
    events: { put: (event) => events.push(event) },
    clock,
  });
  const server = await startServer((request, response) => void service.handle(request, response));
  const { endpoint } = server;
  const client = new SFN({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });

  async function shut(): Promise<void> {
    client.destroy();
    await service.close();
    await server.close();
  }

  const harness: Harness = {
    ...{ client, service, clock, directory, endpoint, events },
    async start(definition, input = {}, name) {
      machines += 1;
      const { stateMachineArn } = await client.createStateMachine({
        name: `machine-${machines}`,
        definition: JSON.stringify(definition),
        roleArn: "arn:aws:iam::000000000000:role/states",
      });
      const started = await client.startExecution({ stateMachineArn, name, input: JSON.stringify(input) });
      return started.executionArn as string;
    },
    async settle() {
      for (let quiet = 0, seen = invocations; quiet < 3; quiet += 1) {
        await service.idle();
        await new Promise((resolve) => setImmediate(resolve));
        if (seen !== invocations) quiet = 0;
        seen = invocations;
      }
    },
    async advance(ms) {
      const until = clock.now() + ms;
      do await harness.settle();
      while (clock.turn(until));
      await harness.settle();
    },
    describe: (executionArn) => client.describeExecution({ executionArn }),
    async history(executionArn) {
      const { events: found = [] } = await client.getExecutionHistory({ executionArn, maxResults: 1000 });
      return found;
    },
    async run(definition, input) {
      const arn = await harness.start(definition, input);
      await harness.advance(400 * 24 * 3600 * 1000);
      return harness.describe(arn);
    },
    async restart(next = handlers) {
      await shut();
      return open(next, { directory, clock });
    },
    shut,
    async close() {
      await shut();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return harness;
}

export const jsonata = (states: object, more: object = {}): object => ({
  QueryLanguage: "JSONata",
  StartAt: Object.keys(states)[0],
  States: states,
  ...more,
});

export const lambda = (name: string, more: object = {}): object => ({
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke",
  Arguments: { FunctionName: name, Payload: "{% $states.input %}" },
  Output: "{% $states.result.Payload %}",
  End: true,
  ...more,
});

export const waitForToken = (name: string, more: object = {}): object => ({
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
  Arguments: { FunctionName: name, Payload: { token: "{% $states.context.Task.Token %}" } },
  End: true,
  ...more,
});

export const output = ({ output: text }: DescribeExecutionOutput): unknown =>
  text === undefined ? undefined : JSON.parse(text);
