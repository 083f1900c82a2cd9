import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import type { LogLine } from "../log-appender";
import type { HostMessage, StackMessage, StartMessage } from "./host-messages";

export interface HostEvents {
  onStarted(pid: number): void;
  onLines(lines: readonly LogLine[]): void;
  /** The last event, once: how it ended. */
  onEnd(end: HostEnd): void;
}

export type HostEnd =
  | { readonly kind: "exit"; readonly exitCode: number }
  | { readonly kind: "start-error"; readonly message: string }
  /** The host process itself died, or was given up, and the container with it. */
  | { readonly kind: "lost" };

/** The stack's side of one host process. */
export class HostProcess {
  private readonly child: ChildProcess;
  private readonly closed: Promise<void>;
  private end?: HostEnd;
  private pid?: number;

  constructor(hostPath: string, start: StartMessage, events: HostEvents) {
    // A session of its own: signals of the stack's terminal do not reach it, nor what kills the stack's process group.
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
      let told = false;
      const gone = () => {
        if (told) return;
        told = true;
        if (!this.end && this.pid !== undefined) killGroup(this.pid);
        events.onEnd(this.end ?? { kind: "lost" });
        resolve();
      };
      // 'close' comes after the last message, but not at all once this side has disconnected.
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

  /** The host is lost, now, with all that ran on it. */
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
    // Gone already.
  }
}

/** The kernel's start time of a process, which tells it from a later one of the same id. Undefined where there is no /proc. */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Fields count from behind the name, which may hold anything: starttime is the 22nd of all.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
