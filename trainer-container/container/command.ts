import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import { createInterface } from "node:readline";

/** Lines of output that a failure quotes. */
const quotedLines = 15;

/**
 * A process that kills the current command and removes the worker's folder when the trainer has died: a command that
 * trains on would hold ports and processors. It reads the command's process group from its input, a line for each.
 */
export function createReaper(folder: string): ChildProcess {
  const script = 'while read -r line; do last=$line; done; [ -n "$last" ] && kill -9 -- "-$last"; rm -rf -- "$1"';
  return spawn("sh", ["-c", script, "sh", folder], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
}

export interface CommandOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** File that announces the command's end; its content is the reason. */
  readonly notice: string;
  readonly reaper: ChildProcess;
  readonly write: (line: string) => void;
}

/** One start of the user's command, in a process group of its own. */
export class Command {
  /** Its end; undefined while it runs. */
  exit: { readonly code: number; readonly killed: boolean } | undefined;
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private readonly lines: string[] = [];
  private killed = false;

  constructor(private readonly options: CommandOptions) {
    const [file = "", ...args] = options.command;
    const { cwd, env, reaper } = options;
    this.child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    reaper.stdin?.write(`${this.child.pid ?? ""}\n`);
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      createInterface({ input: stream }).on("line", (line) => {
        options.write(line);
        this.lines.push(line);
        if (this.lines.length > quotedLines) this.lines.shift();
      });
    }
    this.ended = new Promise((resolve) => {
      const end = (code: number) => {
        this.signal("SIGKILL"); // what it left behind
        reaper.stdin?.write("\n");
        this.exit ??= { code, killed: this.killed };
        resolve();
      };
      this.child.once("error", (error) => {
        this.lines.push(error.message);
        end(127);
      });
      this.child.once("exit", (code, signal) => end(code ?? 128 + constants.signals[signal!]));
    });
  }

  /** The last lines of its output. */
  get tail(): string {
    return this.lines.join("\n");
  }

  /** Writes the notice and sends SIGTERM; after the time, SIGKILL. Idempotent. Resolves when the command has ended. */
  async stop(reason: string, graceMs: number): Promise<void> {
    if (this.exit !== undefined) return;
    writeFileSync(this.options.notice, `${reason}\n`);
    this.signal("SIGTERM");
    const timer = setTimeout(() => {
      this.killed = true;
      this.signal("SIGKILL");
    }, graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, signal);
    } catch {
      // The group has ended.
    }
  }
}
