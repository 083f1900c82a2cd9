import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import type { LogLine } from "../service";
import type { HostMessage, StackMessage, StartMessage } from "./host-messages";

export interface HostEvents {
  onStarted(pid: number): void;
  onLines(lines: readonly LogLine[]): void;
  onEnd(end: HostEnd): void;
}

export type HostEnd =
  | { readonly kind: "exit"; readonly exitCode: number }
  | { readonly kind: "start-error"; readonly message: string }
  /** The host process died or was abandoned, and the container with it. */
  | { readonly kind: "lost" };

export class HostProcess {
  private readonly child: ChildProcess;
  private readonly closed: Promise<void>;
  private end?: HostEnd;
  private pid?: number;

  constructor(hostPath: string, start: StartMessage, events: HostEvents) {
    // The host has its own session. Signals of the stack's terminal and of its process group do not reach it.
    this.child = fork(hostPath, [], { detached: true, execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.child.on("message", (message: HostMessage) => {
      if (message.type === "started") {
        this.pid = message.pid;
        events.onStarted(message.pid);
      } else if (message.type === "lines") events.onLines(message.lines);
      else if (message.type === "exit") this.end ??= { kind: "exit", exitCode: message.exitCode };
      else this.end ??= { kind: "start-error", message: message.message };
    });
    this.closed = new Promise((resolve) => {
      let ended = false;
      const gone = () => {
        if (ended) return;
        ended = true;
        if (!this.end && this.pid !== undefined) killGroup(this.pid);
        events.onEnd(this.end ?? { kind: "lost" });
        resolve();
      };
      // 'close' comes after the last message, but not after this side has disconnected.
      this.child.once("close", gone);
      this.child.once("exit", () => !this.child.connected && this.end?.kind === "lost" && gone());
      this.child.once("error", () => this.pid === undefined && !this.child.connected && gone());
    });
    this.send(start);
  }

  signal(signal: "SIGTERM" | "SIGKILL"): void {
    this.send({ type: "signal", signal });
  }

  interrupt(time: string): void {
    this.send({ type: "interrupt", time });
  }

  async lose(): Promise<void> {
    this.end ??= { kind: "lost" };
    if (this.child.connected) this.child.disconnect();
    await this.closed;
  }

  private send(message: StackMessage): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }
}

export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

/**
 * Returns the kernel's start time of a process, which distinguishes it from a later process with the same id. Returns
 * undefined on systems without /proc.
 */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Fields are counted after the name, which may contain anything. `starttime` is field 22 of the whole line.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
