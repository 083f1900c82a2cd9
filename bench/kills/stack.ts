import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ownerKeys } from "../../adapters/files/owner-keys";
import type { StackFile } from "../../stack/main";
import { stopWhenEnded } from "../support/ending";

export class KillableStack {
  private child: ChildProcess | undefined;
  private gone: Promise<unknown> = Promise.resolve();
  private ports: readonly [string, string] = ["0", "0"];
  private file: StackFile | undefined;
  readonly startMs: number[] = [];
  private readonly closed = stopWhenEnded(() => this.kill());

  constructor(
    readonly bundles: string,
    readonly data: string,
  ) {
    mkdirSync(data, { recursive: true, mode: 0o700 });
  }

  /** @throws Error with the end of the log if it does not start */
  async start(): Promise<void> {
    const startedAt = performance.now();
    const [port, apiPort] = this.ports;
    const args = ["--port", port, "--api-port", apiPort, "--data", this.data, "--with-parent"];
    const log = openSync(this.log, "a");
    const child = spawn(process.execPath, [join(this.bundles, "stack.js"), ...args], {
      stdio: ["ignore", log, log, "ipc"],
    });
    closeSync(log);
    this.child = child;
    this.gone = new Promise((gone) => child.once("exit", gone));
    const file = await new Promise<StackFile>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`the stack ${why}:\n${this.logEnd()}`));
      child.once("exit", (code) => fail(`exited with ${code} before it was ready`));
      child.once("error", (error) => fail(error.message));
      child.on("message", (message: { readonly type: string; readonly stack: StackFile }) => {
        if (message.type === "ready") resolve(message.stack);
        else fail(`did not start: ${JSON.stringify(message)}`);
      });
      setTimeout(() => fail("was not ready after 60 s"), 60_000).unref();
    });
    this.file = file;
    this.ports = [new URL(file.endpoint).port, new URL(file.api).port];
    this.startMs.push(performance.now() - startedAt);
  }

  get log(): string {
    return join(this.data, "stack.log");
  }

  logEnd(characters = 2_000): string {
    return readFileSync(this.log, "utf8").slice(-characters);
  }

  get isRunning(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  get pid(): number {
    return this.child!.pid!;
  }

  get api(): string {
    return this.file!.api;
  }

  /** Options of AWS clients that send each request once: the campaign must know every repetition. */
  get connection() {
    const { endpoint } = this.file!;
    return { endpoint, region: "us-east-1", credentials: ownerKeys(this.data), maxAttempts: 1 };
  }

  /** Returns function environments, hosts of jobs and trainers: pid and command line. */
  descendants(): readonly { readonly pid: number; readonly command: string }[] {
    const parents = new Map<number, number>();
    for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
      const parent = /\) \S (\d+)/.exec(readOrEmpty(`/proc/${name}/stat`))?.[1];
      if (parent !== undefined) parents.set(Number(name), Number(parent));
    }
    const isBelow = (pid: number | undefined): boolean =>
      pid !== undefined && (parents.get(pid) === this.pid || isBelow(parents.get(pid)));
    return [...parents.keys()]
      .filter(isBelow)
      .map((pid) => ({ pid, command: readOrEmpty(`/proc/${pid}/cmdline`).replaceAll("\0", " ") }));
  }

  kill(): void {
    this.child?.kill("SIGKILL");
  }

  async killed(): Promise<void> {
    this.kill();
    await this.gone;
  }

  async close(): Promise<void> {
    this.child?.kill("SIGTERM");
    await this.gone;
    this.closed();
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // the process has ended
  }
}
