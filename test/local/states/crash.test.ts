import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { build } from "esbuild";

/* The service is killed by SIGKILL after every few writes, and started again upon the same data, until the execution is over. */

const root = join(__dirname, "../../..");
let directory: string;
let program: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "states-crash-"));
  program = join(directory, "child.js");
  await build({
    entryPoints: [join(__dirname, "support/crash-child.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    external: ["classic-level"],
    logLevel: "error",
  });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

class Life {
  readonly statuses: string[] = [];
  readonly gone: Promise<unknown>;
  private readonly child: ChildProcessByStdio<null, Readable, null>;
  private client: Promise<SFNClient>;

  constructor(data: string, writes: number, onToken: (token: string) => void) {
    const env = { ...process.env, NODE_PATH: join(root, "node_modules") };
    this.child = spawn(process.execPath, [program, data, String(writes)], {
      stdio: ["ignore", "pipe", "inherit"],
      env,
    });
    const lines = createInterface(this.child.stdout);
    // Its output may be read after its end.
    this.gone = Promise.all([once(this.child, "exit"), once(lines, "close")]);
    this.client = new Promise((resolve) => {
      lines.on("line", (line) => {
        const { port, token, status } = JSON.parse(line) as { port?: number; token?: string; status?: string };
        if (status) this.statuses.push(status);
        if (token) onToken(token);
        if (port) resolve(clientAt(port));
      });
    });
  }

  /** Returns the service's client, or undefined if the process died before it listened. */
  ready = (): Promise<SFNClient | undefined> => Promise.race([this.client, this.gone.then(() => undefined)]);

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.gone;
  }
}

const clientAt = (port: number): SFNClient =>
  new SFNClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });

const invoke = (FunctionName: string, Payload: object, suffix = "") => ({
  Type: "Task",
  Resource: `arn:aws:states:::lambda:invoke${suffix}`,
  Arguments: { FunctionName, Payload },
});
const n = "{% $states.input.n %}";
const Output = "{% $states.result.Payload %}";
const retry = "{% $states.context.State.RetryCount %}";
const definition = JSON.stringify({
  QueryLanguage: "JSONata",
  StartAt: "Add",
  States: {
    Add: { ...invoke("add", { n }), Output, Next: "Flaky" },
    Flaky: {
      ...invoke("flaky", { n, retry }),
      Retry: [{ ErrorEquals: ["Flaky"], IntervalSeconds: 1, BackoffRate: 1 }],
      Output,
      Next: "Both",
    },
    Both: {
      Type: "Parallel",
      Branches: [
        {
          StartAt: "Ask",
          States: {
            Ask: { ...invoke("ask", { token: "{% $states.context.Task.Token %}" }, ".waitForTaskToken"), End: true },
          },
        },
        { StartAt: "Add2", States: { Add2: { ...invoke("add", { n }), Output, End: true } } },
      ],
      Next: "Each",
    },
    Each: {
      Type: "Map",
      Items: "{% $append($states.input, {'n': 10}) %}",
      ItemProcessor: { StartAt: "Add3", States: { Add3: { ...invoke("add", { n }), Output, End: true } } },
      End: true,
    },
  },
});
const distributed = JSON.stringify({
  QueryLanguage: "JSONata",
  StartAt: "Parts",
  States: {
    Parts: {
      Type: "Map",
      Items: "{% [{'n': 1}, {'n': 2}, {'n': 3}, {'n': 4}] %}",
      ItemProcessor: {
        ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
        StartAt: "Add4",
        States: { Add4: { ...invoke("add", { n }), Output, End: true } },
      },
      End: true,
    },
  },
});
const roleArn = "arn:aws:iam::000000000000:role/r";
const stateMachineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:m";
const executionArn = "arn:aws:states:us-east-1:000000000000:execution:m:e";

it.each([
  // 1 + 1 (Add) + 1 (Flaky) = 3; the answer 100 and 3 + 1; each and 10, plus 1.
  ["an execution", 1, definition, '[{"n":101},{"n":5},{"n":11}]'],
  ["an execution", 4, definition, '[{"n":101},{"n":5},{"n":11}]'],
  ["a distributed Map", 2, distributed, '[{"n":2},{"n":3},{"n":4},{"n":5}]'],
])("%s that is killed after every %i. write ends as if it never were", async (what, writes, states, output) => {
  const data = join(directory, `data-${what}-${writes}`);
  const machine = { name: "m", definition: states, roleArn };
  const tokens: string[] = [];
  const statuses = new Set<string>();
  let started = false;
  let answered: string | undefined;
  let final: { status?: string; output?: string } = {};
  for (let lives = 0; lives < 60 && final.status !== "SUCCEEDED"; lives += 1) {
    const life = new Life(data, writes, (token) => tokens.push(token));
    try {
      const client = await life.ready();
      while (client && final.status !== "SUCCEEDED") {
        if (!started) {
          await client.send(new CreateStateMachineCommand(machine));
          await client.send(new StartExecutionCommand({ stateMachineArn, name: "e", input: '{"n":1}' }));
          started = true;
        }
        const token = tokens.at(-1);
        if (token && answered === undefined) {
          await client.send(new SendTaskSuccessCommand({ taskToken: token, output: '{"n":100}' }));
          answered = token;
        }
        final = await client.send(new DescribeExecutionCommand({ executionArn }));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } catch (error) {
      // A request during the death of the process may or may not have had an effect. An answered one has.
      const name = (error as Error).name;
      // The lives after a start whose answer was lost may have ended the execution.
      if (name === "ExecutionAlreadyExists") started = true;
      else if (started) expect(["Error", "TimeoutError", "TaskTimedOut"]).toContain(name);
      if (name === "TaskTimedOut") answered = "in an earlier life";
    } finally {
      await life.kill();
      for (const status of life.statuses) statuses.add(status);
    }
  }
  expect(final).toMatchObject({ status: "SUCCEEDED", output });

  // Events that were not published before a kill are published by the next process.
  const last = new Life(data, 0, () => undefined);
  await last.ready();
  const published = () => new Set([...statuses, ...last.statuses]);
  while (published().size < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  await last.kill();
  expect(published()).toEqual(new Set(["RUNNING", "SUCCEEDED"]));
});
