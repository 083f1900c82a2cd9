import { type ChildProcess, type ForkOptions, fork, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { account, region } from "../account";
import type { Clock } from "../clock";
import { inheritedEnvironment } from "../inherited-environment";
import type { LogAppender } from "../service";
import {
  endOfOutput,
  type FunctionConfig,
  type FunctionError,
  type InvocationOutcome,
  type InvokeMessage,
  type RuntimeMessage,
  watchParentOption,
} from "./types";

/**
 * Returns the variables that Lambda sets, and the function's own. The function's own override them where Lambda allows
 * it.
 */
function functionEnvironment(config: FunctionConfig, logStream: string): Record<string, string> {
  return {
    ...inheritedEnvironment(),
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    AWS_ACCESS_KEY_ID: "ringmaster",
    AWS_SECRET_ACCESS_KEY: "ringmaster",
    ...config.environment,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x",
    AWS_LAMBDA_FUNCTION_NAME: config.name,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(config.memoryMb ?? 128),
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: logGroup(config.name),
    AWS_LAMBDA_LOG_STREAM_NAME: logStream,
    LAMBDA_TASK_ROOT: dirname(config.bundle),
    _HANDLER: "index.handler",
    RINGMASTER_ACCOUNT: account,
  };
}

function logGroup(name: string): string {
  return `/aws/lambda/${name}`;
}

/** The program of util-linux that runs a command which the kernel kills when its parent ends. */
const program = "setpriv";
const options = ["--pdeathsig", "KILL"];

let works: boolean | undefined;

/**
 * Returns options of `fork` for a Node.js process that the kernel kills when this process ends, or undefined where no
 * program can arrange it. A thread that watches the parent instead takes about as long to start as the process.
 */
function endingWithParent(flags: readonly string[]): Pick<ForkOptions, "execPath" | "execArgv"> | undefined {
  works ??= spawnSync(program, [...options, "true"]).status === 0;
  return works ? { execPath: program, execArgv: [...options, process.execPath, ...flags] } : undefined;
}

const tailBytes = 4096;
/** Lambda's limit on the init phase. */
const maxInitMs = 10_000;
/**
 * The maximum wait for the end-of-output marker, which is written before the result is sent. A handler that has closed
 * its stdout sends none.
 */
const markerWaitMs = 200;

interface EnvironmentOptions {
  readonly runtimePath: string;
  readonly clock: Clock;
  readonly logs?: LogAppender;
}

interface Invocation {
  readonly requestId: string;
  readonly startedAt: number;
  readonly log: string[];
  finish: (result: { payload: string; failed: boolean; rssMb?: number }) => void;
}

export class ExecutionEnvironment {
  private readonly child: ChildProcess;
  private readonly logStream: string;
  private readonly launchedAt: number;
  private invocation?: Invocation;
  private markers = 0;
  private onMarkers?: () => void;
  private initMs?: number;
  /** Resolves when the handler is loaded, or with the error that prevented it. */
  readonly started: Promise<FunctionError | undefined>;
  readonly ended: Promise<void>;
  dead = false;

  constructor(
    private readonly config: FunctionConfig,
    private readonly options: EnvironmentOptions,
  ) {
    const { clock } = options;
    this.launchedAt = clock.now();
    const day = new Date(this.launchedAt).toISOString().slice(0, 10).replaceAll("-", "/");
    this.logStream = `${day}/[$LATEST]${randomUUID().replaceAll("-", "")}`;
    const flags = [`--max-old-space-size=${config.memoryMb ?? 128}`];
    const ending = endingWithParent(flags);
    this.child = fork(options.runtimePath, [config.bundle, ...(ending ? [] : [watchParentOption])], {
      env: functionEnvironment(config, this.logStream),
      ...(ending ?? { execArgv: flags }),
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      readLines(
        stream,
        (line) => this.log(line),
        () => {
          this.markers += 1;
          if (this.markers === 2) this.onMarkers?.();
        },
      );
    }
    this.started = this.watchStart();
    this.ended = new Promise((resolve) => {
      const gone = (message: string) => {
        this.dead = true;
        this.fail({ errorType: "Runtime.ExitError", errorMessage: message });
        resolve();
      };
      // 'close' comes after the last output, but 'exit' may come before it.
      this.child.once("close", (code, signal) => gone(exitMessage(code, signal)));
      this.child.once("error", (error) => gone(`Runtime failed to start: ${error.message}`));
    });
  }

  /** Invokes the handler. Never rejects: the outcome contains any error in Lambda's format. */
  async invoke(requestId: string, payload: string): Promise<InvocationOutcome> {
    const { clock } = this.options;
    const timeoutMs = (this.config.timeoutSeconds ?? 3) * 1000;
    const log: string[] = [];
    return new Promise((resolve) => {
      let cancelTimer = () => {};
      this.invocation = {
        requestId,
        startedAt: clock.now(),
        log,
        finish: (result) => {
          cancelTimer();
          this.report(requestId, result.rssMb);
          this.invocation = undefined;
          const logTail = Buffer.from(log.join("\n")).subarray(-tailBytes).toString("utf8");
          resolve({
            payload: result.payload,
            logTail,
            ...(result.failed ? { functionError: "Unhandled" as const } : {}),
          });
        },
      };
      this.log(`START RequestId: ${requestId} Version: $LATEST`);
      void this.started.then((initError) => {
        if (!this.invocation) return;
        if (initError) return this.fail(initError, true);
        if (this.dead) return this.fail({ errorType: "Runtime.ExitError", errorMessage: "Runtime exited" });
        if (!this.child.connected) return;
        this.invocation = Object.assign(this.invocation, { startedAt: clock.now() });
        this.markers = 0;
        this.onMarkers = undefined;
        cancelTimer = clock.schedule(timeoutMs, () => this.timeOut(timeoutMs));
        const message: InvokeMessage = { type: "invoke", requestId, payload, deadline: clock.now() + timeoutMs };
        this.child.send(message, () => undefined);
      });
    });
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  private watchStart(): Promise<FunctionError | undefined> {
    return new Promise((resolve) => {
      const limit = Math.max(maxInitMs, (this.config.timeoutSeconds ?? 3) * 1000);
      const cancel = this.options.clock.schedule(limit, () => {
        this.child.kill("SIGKILL");
        resolve({
          errorType: "Sandbox.Timedout",
          errorMessage: `Init timed out after ${(limit / 1000).toFixed(2)} seconds`,
        });
      });
      const settle = (error?: FunctionError) => {
        cancel();
        if (error) this.dead = true;
        resolve(error);
      };
      this.child.once("close", () => settle());
      this.child.once("error", () => settle());
      this.child.on("message", (message: RuntimeMessage) => {
        if (message.type === "ready") {
          this.initMs = this.options.clock.now() - this.launchedAt;
          settle();
        } else if (message.type === "init-error") settle(message.error);
        else this.onResult(message);
      });
    });
  }

  private onResult(message: Extract<RuntimeMessage, { requestId: string }>): void {
    const { invocation } = this;
    if (invocation?.requestId !== message.requestId) return;
    const failed = message.type === "error";
    if (message.type === "error" && message.fatal) this.dead = true;
    const payload = failed ? JSON.stringify(message.error) : message.payload;
    const finish = () => {
      cancel();
      if (this.invocation === invocation) invocation.finish({ payload, failed, rssMb: message.rssMb });
    };
    const cancel = this.options.clock.schedule(markerWaitMs, finish);
    if (this.markers >= 2) finish();
    else this.onMarkers = finish;
  }

  private timeOut(timeoutMs: number): void {
    this.dead = true;
    this.child.kill("SIGKILL");
    const errorMessage = `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
    this.fail({ errorType: "Sandbox.Timedout", errorMessage });
  }

  /**
   * Ends the invocation with an error. An error of the sandbox contains the request id, and an error of the user's code
   * does not.
   */
  private fail(error: FunctionError, isOfUsersCode = false): void {
    const { invocation } = this;
    if (!invocation) return;
    const errorMessage = isOfUsersCode
      ? error.errorMessage
      : `RequestId: ${invocation.requestId} Error: ${error.errorMessage}`;
    this.log(errorMessage);
    invocation.finish({ payload: JSON.stringify({ ...error, errorMessage }), failed: true });
  }

  private report(requestId: string, rssMb?: number): void {
    const duration = this.options.clock.now() - (this.invocation?.startedAt ?? 0);
    const init = this.initMs === undefined ? "" : `\tInit Duration: ${this.initMs.toFixed(2)} ms`;
    this.initMs = undefined; // Reported once, with the invocation that waited for it.
    const memory = rssMb === undefined ? "" : `\tMax Memory Used: ${rssMb} MB`;
    this.log(`END RequestId: ${requestId}`);
    this.log(
      `REPORT RequestId: ${requestId}\tDuration: ${duration.toFixed(2)} ms\tBilled Duration: ${Math.ceil(duration)} ms\tMemory Size: ${this.config.memoryMb ?? 128} MB${memory}${init}`,
    );
  }

  private log(message: string): void {
    const timestamp = this.options.clock.now();
    this.invocation?.log.push(message);
    this.options.logs?.append(logGroup(this.config.name), this.logStream, [{ timestamp, message }]);
  }
}

function exitMessage(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === "SIGKILL") return "Runtime exited with error: signal: killed";
  if (signal) return `Runtime exited with error: signal: ${signal}`;
  return code === 0 ? "Runtime exited without providing a reason" : `Runtime exited with error: exit status ${code}`;
}

/** Splits a process's output into lines. The runtime's marker is not a line: it ends the output of an invocation. */
function readLines(stream: Readable, onLine: (line: string) => void, onMarker: () => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      if (!part.endsWith(endOfOutput)) onLine(part);
      else {
        // The handler's last line may have no line feed.
        const unfinished = part.slice(0, -endOfOutput.length);
        if (unfinished !== "") onLine(unfinished);
        onMarker();
      }
    }
  });
  stream.on("close", () => {
    if (rest !== "") onLine(rest);
    rest = "";
  });
}
