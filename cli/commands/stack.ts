import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { DamagedFileError } from "../../adapters/files/checked-file";
import { directoryProblem } from "../../adapters/files/directory-problem";
import { ownerKeys } from "../../adapters/files/owner-keys";
import { createTokenStore } from "../../adapters/files/token-store";
import { InvalidInputError, type Problem, RingmasterError } from "../../core/errors";
import type { CycleState } from "../../core/reclamation/ports";
import { invalidOption, wholeNumber } from "../command";
import type { GlobalOptions } from "../context";
import { StackNotRunningError, StackStartError } from "../errors";
import { printJson } from "../output";
import { findStack, isAlive, readStackFile, type StackInfo } from "../stack-file";
import { connectionTo, findStorage, usageText } from "../storage";

interface UpOptions extends GlobalOptions {
  readonly port: string;
  readonly apiPort: string;
  readonly detach?: boolean;
  readonly auth?: boolean;
  readonly allowLoopbackHooks?: boolean;
  readonly workers?: number;
}

/** Maximum time in which a stack becomes ready, or stops; usually a second or two. */
const patienceMs = 60_000;

/**
 * A larger space for young objects saves a fifth of a busy stack's processor time; old ones are collected once the heap
 * has grown by half, so that memory stays flat.
 */
const runtimeFlags = ["--min-semi-space-size=32", "--max-semi-space-size=32", "--heap-growing-percent=50"];

/** With more arenas, glibc keeps memory that the threads of LevelDB and of files have freed. Other systems ignore it. */
const stackEnvironment = () => ({ MALLOC_ARENA_MAX: "2", ...process.env });

export function addStackCommands(program: Command): void {
  program
    .command("up")
    .description("start the embedded cloud: the AWS services and the API, on 127.0.0.1")
    .option("--port <port>", "port of the AWS services (0: a free port)", "4566")
    .option("--api-port <port>", "port of the API (0: a free port)", "4700")
    .option("--auth", "require a token for the API, permanently (`ringmaster tokens create`)")
    .option("--allow-loopback-hooks", "let hooks and webhooks go to other programs of this machine")
    .option(
      "--workers <n>",
      "training workers (their vCPUs) that run at once; other jobs are queued (default: this machine's cores)",
      wholeNumber("--workers"),
    )
    .option("--detach", "return once the stack is ready, and run it in the background")
    .action(async (_options: unknown, command: Command) => up(command));

  program
    .command("down")
    .description("stop the embedded cloud; its data is kept")
    .action(async (_options: unknown, command: Command) => down(command.optsWithGlobals<GlobalOptions>()));

  program
    .command("status")
    .description("show whether the embedded cloud runs, with its URLs and data directory")
    .action(async (_options: unknown, command: Command) => status(command.optsWithGlobals<GlobalOptions>()));

  program
    .command("env")
    .description('print the variables that point the AWS CLI and SDKs at the embedded cloud: eval "$(ringmaster env)"')
    .action(async (_options: unknown, command: Command) => env(command.optsWithGlobals<GlobalOptions>()));
}

async function up(command: Command): Promise<void> {
  const options = command.optsWithGlobals<UpOptions>();
  for (const [name, value] of [
    ["--port", options.port],
    ["--api-port", options.apiPort],
  ] as const) {
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
      throw new RingmasterError(`${name} is ${JSON.stringify(value)}, but must be a port from 0 to 65535`, {
        code: "INVALID_INPUT",
        httpStatus: 400,
      });
    }
  }
  if (options.workers !== undefined && !(options.workers >= 1 && options.workers <= 1_000))
    throw invalidOption("--workers", String(options.workers), "must be from 1 to 1000");
  const running = await findStack(options.data).catch((error: unknown) => {
    // it is written again; stack.lock shows whether a stack runs
    if (error instanceof DamagedFileError) return undefined;
    throw error;
  });
  if (running) {
    await checkRunning(running, options, (name) => command.getOptionValueSource(name) === "cli");
    announce(running, options);
    return;
  }
  const data = resolve(options.data);
  makeData(data);
  const args = [
    ...runtimeFlags,
    "--require",
    join(__dirname, "preload.js"),
    join(__dirname, "stack.js"),
    "--port",
    options.port,
    "--api-port",
    options.apiPort,
    "--data",
    data,
  ];
  if (options.auth) args.push("--auth");
  if (options.allowLoopbackHooks) args.push("--allow-loopback-hooks");
  if (options.workers !== undefined) args.push("--workers", String(options.workers));
  if (!options.detach) {
    // The channel closes when this process ends in any way, so that nothing is left running (--with-parent).
    const child = spawn(process.execPath, [...args, "--with-parent"], {
      env: stackEnvironment(),
      stdio: ["inherit", "inherit", "inherit", "ipc"],
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
    process.exitCode = await new Promise<number>((ended) => child.on("exit", (code) => ended(code ?? 1)));
    return;
  }
  const log = join(data, "stack.log");
  const output = openLog(log, data);
  const child = spawn(process.execPath, [...args, "--detached"], {
    detached: true,
    env: stackEnvironment(),
    stdio: ["ignore", output, output, "ipc"],
  });
  announce(await ready(child, log), options);
  child.disconnect();
  child.unref();
}

/** Port 0 accepts any port. @throws InvalidInputError with the requested value and the running stack's */
async function checkRunning(
  stack: StackInfo,
  options: UpOptions,
  given: (name: keyof UpOptions) => boolean,
): Promise<void> {
  const next = `stop it first with \`ringmaster down --data ${options.data}\``;
  const ports = [
    { name: "port", option: "--port", wanted: options.port, url: stack.endpoint },
    { name: "apiPort", option: "--api-port", wanted: options.apiPort, url: stack.api },
  ] as const;
  const problems: Problem[] = ports
    .map((port) => ({ ...port, found: new URL(port.url).port }))
    .filter(({ name, wanted, found }) => given(name) && Number(wanted) !== 0 && Number(wanted) !== Number(found))
    .map(({ option, wanted, found }) => ({
      path: option,
      value: wanted,
      rule: `the running stack (pid ${stack.pid}) listens on ${found}: ${next}`,
    }));
  if (options.auth && !(await createTokenStore(resolve(options.data)).required())) {
    const rule = `the running stack (pid ${stack.pid}) accepts calls without a token: ${next}`;
    problems.push({ path: "--auth", value: true, rule });
  }
  if (options.allowLoopbackHooks && !stack.allowLoopbackHooks) {
    const rule = `the running stack (pid ${stack.pid}) refuses hooks to this machine: ${next}`;
    problems.push({ path: "--allow-loopback-hooks", value: true, rule });
  }
  if (options.workers !== undefined && options.workers !== stack.workers) {
    const rule = `the running stack (pid ${stack.pid}) runs ${stack.workers} at once: ${next}`;
    problems.push({ path: "--workers", value: options.workers, rule });
  }
  if (problems.length > 0) throw new InvalidInputError("a stack with other settings is already running", problems);
}

/** Reports a refusal immediately. Node's own `recursive` never returns below /proc. */
function makeData(data: string): void {
  try {
    if (existsSync(data)) accessSync(data, constants.W_OK);
    else {
      if (dirname(data) !== data) makeData(dirname(data));
      mkdirSync(data, { mode: 0o700 });
    }
    readdirSync(data);
  } catch (cause) {
    if (cause instanceof RingmasterError) throw cause;
    throw unusable(data, cause);
  }
}

/** Opens the log for the stack's output before the stack writes the log itself. */
function openLog(log: string, data: string): number {
  try {
    return openSync(log, "a", 0o600);
  } catch (cause) {
    throw unusable(data, cause);
  }
}

function unusable(data: string, cause: unknown): StackStartError {
  const next = directoryProblem(cause, data) ?? "choose another directory with --data DIRECTORY";
  return new StackStartError(`${data} cannot be used as the data directory (${(cause as Error).message}); ${next}`);
}

/** Waits for the stack's message that it is ready, or for the reason why it is not. */
function ready(child: ChildProcess, log: string): Promise<StackInfo> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new StackStartError(why));
    const timer = setTimeout(
      () => fail(`the stack was not ready after ${patienceMs / 1000} s; see ${log}`),
      patienceMs,
    );
    child.on("message", (message: { type: "ready"; stack: StackInfo } | { type: "failed"; message: string }) => {
      clearTimeout(timer);
      if (message.type === "ready") resolve(message.stack);
      else fail(message.message);
    });
    child.on("exit", (code) => {
      clearTimeout(timer);
      fail(`the stack exited with code ${code} before it was ready:\n${readFileSync(log, "utf8").slice(-2_000)}`);
    });
  });
}

function announce(stack: StackInfo, options: GlobalOptions): void {
  if (options.json) printJson(stack);
  else
    process.stdout.write(
      `Ringmaster is running: API ${stack.api}, AWS endpoint ${stack.endpoint}, data ${stack.data} (pid ${stack.pid})\n`,
    );
}

async function down(options: GlobalOptions): Promise<void> {
  const stack = readStackFile(options.data);
  if (!stack || !isAlive(stack.pid)) {
    if (options.json) printJson({ stopped: false, data: resolve(options.data) });
    else process.stdout.write(`no stack is running for ${resolve(options.data)}\n`);
    return;
  }
  process.kill(stack.pid, "SIGTERM");
  const deadline = Date.now() + patienceMs;
  while (isAlive(stack.pid)) {
    if (Date.now() > deadline) {
      process.kill(stack.pid, "SIGKILL"); // Its data are safe under kill -9; see docs/adr/001-embedded-cloud.md.
      break;
    }
    await new Promise((wait) => setTimeout(wait, 50));
  }
  if (options.json) printJson({ stopped: true, pid: stack.pid, data: stack.data });
  else process.stdout.write(`stopped (pid ${stack.pid}); the data is kept in ${stack.data}\n`);
}

async function status(options: GlobalOptions): Promise<void> {
  const stack = await findStack(options.data);
  const storage = stack && (await findStorage(connectionTo(stack)));
  if (options.json && stack) {
    const stored = storage && { countedAt: new Date(storage.finishedAt ?? 0).toISOString(), teams: storage.teams };
    printJson({ running: true, ...stack, ...(stored ? { storage: stored } : {}) });
  } else if (options.json) printJson({ running: false, data: resolve(options.data) });
  else if (stack) {
    announce(stack, options);
    if (storage) showStorage(storage);
    else process.stdout.write("stored: not counted yet (ringmaster gc --dry-run counts it)\n");
  } else process.stdout.write(`no stack is running for ${resolve(options.data)}\n`);
  if (!stack) process.exitCode = 1;
}

function showStorage({ finishedAt = 0, teams }: CycleState): void {
  for (const [team, usage] of Object.entries(teams)) {
    process.stdout.write(`stored by team ${team}: ${usageText(usage)} (${new Date(finishedAt).toISOString()})\n`);
  }
}

async function env(options: GlobalOptions): Promise<void> {
  const stack = await findStack(options.data);
  if (!stack) throw new StackNotRunningError(resolve(options.data));
  const keys = ownerKeys(resolve(options.data));
  const variables = {
    AWS_ENDPOINT_URL: stack.endpoint,
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    RINGMASTER_API_URL: stack.api,
  };
  if (options.json) printJson(variables);
  else for (const [name, value] of Object.entries(variables)) process.stdout.write(`export ${name}=${value}\n`);
}
