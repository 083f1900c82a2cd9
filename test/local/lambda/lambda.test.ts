import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CreateFunctionCommand, Lambda } from "@aws-sdk/client-lambda";
import { createLambda, type LambdaService } from "../../../local/lambda";
import { ManualClock } from "../../support/manual-clock";
import { temporaryFolder } from "../../support/temporary-folder";
import { serve } from "../support/served";
import { bundle } from "./bundle";

const handlers: Readonly<Record<string, string>> = {
  echo: "exports.handler = async (event, context) => ({ event, id: context.awsRequestId, arn: context.invokedFunctionArn, left: context.getRemainingTimeInMillis() > 0 });",
  env: "exports.handler = async () => process.env;",
  callback:
    "exports.handler = (event, context, callback) => { setTimeout(() => callback(null, { called: event }), 1); };",
  fails: "exports.handler = async () => { throw new RangeError('step is -1, but must be >= 0'); };",
  slow: "exports.handler = () => new Promise((r) => setTimeout(r, 60000));",
  spins: "exports.handler = async () => { for (;;); };",
  exits: "exports.handler = async () => process.exit(7);",
  killed: "exports.handler = async () => process.kill(process.pid, 'SIGKILL');",
  rejects: "exports.handler = () => new Promise(() => { Promise.reject(new Error('lost')); });",
  broken: "throw new TypeError('at load');",
  nohandler: "exports.other = 1;",
  logs: "exports.handler = async () => { console.log('first'); console.error('second'); process.stdout.write('no end'); return 1; };",
  pid: "let n = 0; exports.handler = async (e) => { await new Promise((r) => setTimeout(r, e.ms ?? 0)); return { pid: process.pid, n: ++n }; };",
  together:
    "const fs = require('fs'); exports.handler = async ({ file, count }) => { fs.appendFileSync(file, '.'); while (fs.statSync(file).size < count) await new Promise((r) => setTimeout(r, 5)); return process.pid; };",
  large: "exports.handler = async (e) => 'x'.repeat(e.size);",
  grows: "exports.handler = async () => Array.from({ length: 1000 }, (_, i) => new Array(1e4).fill(i)).length;",
  flaky:
    "const fs = require('fs'); exports.handler = async (e) => { fs.appendFileSync(e.file, '.'); if (fs.readFileSync(e.file).length < e.until) throw new Error('not yet'); };",
};
const configs: Readonly<Record<string, object>> = {
  env: { environment: { TABLE: "Catalog" }, memoryMb: 256 },
  slow: { timeoutSeconds: 0.2 },
  spins: { timeoutSeconds: 0.2 },
  grows: { memoryMb: 24, timeoutSeconds: 60 },
};

describe("lambda", () => {
  const directory = temporaryFolder("lambda");
  const runtimePath = bundle("local/lambda/runtime.ts", directory);
  const lines: string[] = [];
  let lambda: LambdaService;
  let served: Awaited<ReturnType<typeof serve>>;
  let client: Lambda;

  const start = async () => {
    lambda = createLambda({
      functions: Object.keys(handlers).map((name) => ({
        name,
        bundle: join(directory, `${name}.js`),
        ...configs[name],
      })),
      dataDirectory: join(directory, "data"),
      runtimePath,
      maxEnvironments: 3,
      asyncRetryDelaysMs: [5, 5],
      logs: { append: (group, _, events) => lines.push(...events.map(({ message }) => `${group} ${message}`)) },
    });
    await lambda.ready;
    served = await serve(lambda);
    client = new Lambda(served.connection);
  };
  const stop = async () => {
    client.destroy();
    await served.close();
  };

  beforeAll(async () => {
    for (const [name, code] of Object.entries(handlers)) writeFileSync(join(directory, `${name}.js`), code);
    await start();
  });
  afterAll(() => stop());

  const invoke = async (name: string, event: unknown = {}, more: object = {}) => {
    const answer = await client.invoke({ FunctionName: name, Payload: JSON.stringify(event), ...more });
    return { ...answer, body: answer.Payload?.length ? JSON.parse(answer.Payload.transformToString()) : undefined };
  };

  it("invokes by name and by ARN with a context", async () => {
    const { body, FunctionError, StatusCode, ExecutedVersion } = await invoke("echo", { a: [1, "ü"] });
    const arn = "arn:aws:lambda:us-east-1:000000000000:function:echo";
    expect({ FunctionError, StatusCode, ExecutedVersion }).toEqual({ StatusCode: 200, ExecutedVersion: "$LATEST" });
    expect(body).toEqual({ event: { a: [1, "ü"] }, id: expect.stringMatching(/^[\da-f-]{36}$/), arn, left: true });
    expect((await invoke(`${arn}:$LATEST`, 5)).body.event).toBe(5);
  });

  it("sets Lambda's and the function's own variables, not the stack's", async () => {
    process.env["SECRET_OF_THE_STACK"] = "1";
    const { body } = await invoke("env");
    delete process.env["SECRET_OF_THE_STACK"];
    expect(body).toMatchObject({
      TABLE: "Catalog",
      AWS_LAMBDA_FUNCTION_NAME: "env",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "256",
      AWS_REGION: "us-east-1",
      AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/env",
    });
    expect(body).not.toHaveProperty("SECRET_OF_THE_STACK");
  });

  it("serves a handler that calls back", async () => {
    expect((await invoke("callback", 1)).body).toEqual({ called: 1 });
  });

  const failures: readonly [string, object][] = [
    [
      "fails",
      {
        errorType: "RangeError",
        errorMessage: "step is -1, but must be >= 0",
        trace: expect.arrayContaining([expect.stringContaining("RangeError")]),
      },
    ],
    [
      "slow",
      {
        errorType: "Sandbox.Timedout",
        errorMessage: expect.stringMatching(/^RequestId: \S+ Error: Task timed out after 0\.20 seconds$/),
      },
    ],
    ["spins", { errorType: "Sandbox.Timedout" }],
    [
      "exits",
      {
        errorType: "Runtime.ExitError",
        errorMessage: expect.stringMatching(/Error: Runtime exited with error: exit status 7$/),
      },
    ],
    ["killed", { errorType: "Runtime.ExitError", errorMessage: expect.stringMatching(/signal: killed$/) }],
    ["grows", { errorType: "Runtime.ExitError", errorMessage: expect.stringMatching(/signal: SIGABRT$/) }],
    ["rejects", { errorType: "Runtime.UnhandledPromiseRejection", errorMessage: "Error: lost" }],
    ["broken", { errorType: "TypeError", errorMessage: "at load" }],
    ["nohandler", { errorType: "Runtime.HandlerNotFound" }],
  ];
  it.each(failures)("%s: answers Lambda's error, twice alike", async (name, expected) => {
    for (const answer of [await invoke(name), await invoke(name)]) {
      expect(answer.StatusCode).toBe(200);
      expect(answer.FunctionError).toBe("Unhandled");
      expect(answer.body).toMatchObject(expected);
    }
  });

  it("logs to the function's group and returns the tail", async () => {
    const { LogResult } = await invoke("logs", {}, { LogType: "Tail" });
    const tail = Buffer.from(LogResult ?? "", "base64").toString();
    expect(tail).toMatch(/^START RequestId: \S+ Version: \$LATEST\n/);
    expect(tail).toMatch(/first\n/);
    expect(tail).toMatch(/second\n/);
    expect(tail).toMatch(/no end\n/);
    expect(tail).toMatch(/END RequestId: \S+\nREPORT RequestId: .*Max Memory Used: \d+ MB.*Init Duration/);
    expect(lines).toContain("/aws/lambda/logs no end");
    expect((await invoke("logs")).LogResult).toBeUndefined();
  });

  it("keeps an environment warm, scales out under concurrency, and queues beyond its limit", async () => {
    const first = (await invoke("pid")).body;
    expect((await invoke("pid")).body).toEqual({ pid: first.pid, n: 2 });
    const meeting = { file: join(directory, "together"), count: 3 };
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => invoke("together", meeting)));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(3);
  });

  it("starts the allowed number of environments at once, and serves a burst with those that are ready", async () => {
    const lock = join(directory, "starting");
    const code = `const fs = require("fs");
      fs.mkdirSync("${lock}"); // Fails if another environment starts.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      fs.rmdirSync("${lock}");
      exports.handler = async () => process.pid;`;
    writeFileSync(join(directory, "burst.js"), code);
    const one = createLambda({
      functions: [{ name: "burst", bundle: join(directory, "burst.js"), timeoutSeconds: 60 }],
      dataDirectory: join(directory, "burst"),
      runtimePath,
      maxStarting: 1,
    });
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => one.invoke("burst", {})));
    expect(outcomes.map(({ functionError, payload }) => functionError ?? typeof payload)).toEqual(
      Array(8).fill("number"),
    );
    expect(new Set(outcomes.map(({ payload }) => payload)).size).toBeLessThan(8);
    const late = Promise.allSettled(Array.from({ length: 12 }, () => one.invoke("burst", {})));
    await one.close();
    expect(await late).toHaveLength(12); // None waits for an environment that is never started.
  });

  it("limits payloads to 6 MB, both ways", async () => {
    expect((await invoke("large", { size: 6_000_000 })).body).toHaveLength(6_000_000);
    expect((await invoke("large", { size: 6_300_000 })).body.errorType).toBe("Function.ResponseSizeTooLarge");
    await expect(invoke("echo", "x".repeat(6_400_000))).rejects.toMatchObject({ name: "RequestTooLargeException" });
  });

  it("retries an asynchronous invocation twice, then writes it to the dead letters", async () => {
    const file = join(directory, "flaky");
    const count = () => readFileSync(file, "utf8").length;
    expect((await invoke("flaky", { file, until: 3 }, { InvocationType: "Event" })).StatusCode).toBe(202);
    await until(() => count() === 3);
    await lambda.invokeAsync("flaky", { file, until: 99 });
    await until(() => count() === 6);
    const letters = join(directory, "data", "lambda-dead-letters.ndjson");
    await until(() => readFileSync(letters, "utf8") !== "");
    expect(JSON.parse(readFileSync(letters, "utf8"))).toMatchObject({ item: { functionName: "flaky" }, attempts: 3 });
  });

  it("delivers accepted invocations after a restart", async () => {
    const file = join(directory, "again");
    await lambda.invokeAsync("flaky", { file, until: 1 });
    await stop(); // Interrupts the cold start. The invocation stays in the queue.
    await start();
    await until(() => readFileSync(file, "utf8").length >= 1);
  });

  it("refuses unknown functions, bodies that are not JSON, and unimplemented operations", async () => {
    await expect(invoke("nobody")).rejects.toMatchObject({
      name: "ResourceNotFoundException",
      message: "Function not found: arn:aws:lambda:us-east-1:000000000000:function:nobody",
    });
    await expect(lambda.invoke("nobody", {})).rejects.toMatchObject({ code: "ResourceNotFoundException" });
    await expect(client.invoke({ FunctionName: "echo", Payload: "{" })).rejects.toMatchObject({
      name: "InvalidRequestContentException",
    });
    const create = new CreateFunctionCommand({ FunctionName: "f", Role: "r", Code: {} });
    await expect(client.send(create)).rejects.toThrow(/does not implement POST/);
    await expect(invoke("echo", {}, { InvocationType: "DryRun" })).rejects.toThrow(/not one of RequestResponse, Event/);
  });

  it.each([
    ["by setpriv", process.env["PATH"]],
    ["by a thread, on a machine without setpriv", directory],
  ])(
    "leaves no process behind when the stack is killed, even one whose handler never yields: %s",
    async (_how, PATH) => {
      const file = join(directory, "forever.js");
      writeFileSync(
        file,
        "exports.handler = async () => { process.stdout.write('pid ' + process.pid + '\\n'); for (;;); };",
      );
      const args = [file, join(directory, "killed"), runtimePath];
      const env = { ...process.env, PATH, NODE_PATH: resolve("node_modules") };
      const stack = fork(bundle("test/local/lambda/stack-fixture.ts", directory), args, { env });
      const pid = await new Promise<number>((found) => {
        stack.on("message", (line: string) => {
          if (line.startsWith("pid ")) found(Number(line.slice(4)));
        });
      });
      expect(alive(pid)).toBe(true);
      stack.kill("SIGKILL");
      await until(() => !alive(pid));
    },
  );

  it("removes an environment that has been idle for a minute", async () => {
    const clock = new ManualClock(0);
    const idle = createLambda({
      functions: [{ name: "pid", bundle: join(directory, "pid.js") }],
      dataDirectory: join(directory, "idle"),
      runtimePath,
      clock,
    });
    const pid = async () => ((await idle.invoke("pid", {})).payload as { pid: number }).pid;
    const first = await pid();
    clock.advance(59_999);
    expect(await pid()).toBe(first);
    clock.advance(59_999);
    expect(alive(first)).toBe(true);
    clock.advance(1);
    await until(() => !alive(first));
    expect(await pid()).not.toBe(first);
    await idle.close();
    expect(clock.pending).toBe(0);
  });

  it("is a FunctionInvoker", async () => {
    expect(await lambda.invoke("echo", { a: 1 })).toMatchObject({ payload: { event: { a: 1 } } });
    expect(await lambda.invoke("fails", {})).toMatchObject({
      functionError: "Unhandled",
      payload: { errorType: "RangeError" },
    });
    const abort = new AbortController();
    const waiting = lambda.invoke("pid", { ms: 500 }, abort.signal);
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (;;) {
    try {
      if (condition()) return;
    } catch {}
    await new Promise((tick) => setTimeout(tick, 10));
  }
}
