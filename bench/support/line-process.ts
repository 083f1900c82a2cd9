import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A process that answers each line of JSON on its standard input by one on its standard output. */
export class LineProcess {
  private readonly child: ChildProcess;
  private readonly lines: string[] = [];
  private wake: (() => void) | undefined;
  private ended = false;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      this.lines.push(line);
      this.wake?.();
    });
    const end = () => {
      this.ended = true;
      this.wake?.();
    };
    this.child.on("error", end);
    this.child.on("close", end);
    this.child.stdin!.on("error", end);
  }

  send(message: unknown): void {
    this.child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  /** @throws if the process has ended */
  async receive<T>(): Promise<T> {
    while (this.lines.length === 0) {
      if (this.ended)
        throw new Error(`${this.child.spawnfile} (process ${this.child.pid}) ended; see its output above`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return JSON.parse(this.lines.shift()!) as T;
  }

  /** Ends its standard input: a process that waits for that cleans up and exits. */
  end(): void {
    this.child.stdin!.end();
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}
