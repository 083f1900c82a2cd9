import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createMemoryGroup, type MemoryGroup } from "../../test/support/memory-group";

/** Processes within one memory limit, with their peaks. */
export interface Limited {
  /** Starts a program in the group, and resolves with what it prints. @throws Error unless it ends with an accepted code */
  run(command: readonly string[], accepted?: readonly number[]): Promise<string>;
  readonly peaks: Peaks;
  /** Ends the processes that are left. */
  end(): void;
  close(): void;
}

export interface Peaks {
  /** Of the group, without cached files. In MiB. */
  readonly own: number;
  /** As the kernel counts it for the limit, with cached files. In MiB. */
  readonly counted: number;
  /** Of single processes, by their kind. In MiB. */
  readonly processes: ReadonlyMap<string, number>;
}

const sampleMs = 200;

/**
 * Creates a control group with a memory limit.
 *
 * @returns undefined where this process may not
 */
export function createLimited(name: string, limitMb: number): Limited | undefined {
  const group = createMemoryGroup(name, limitMb);
  if (group === undefined) return undefined;
  const processes = new Map<string, number>();
  let own = 0;
  const sample = (): void => {
    own = Math.max(own, group.ownMb());
    for (const pid of group.pids()) {
      const found = processOf(pid);
      if (found) processes.set(found.kind, Math.max(processes.get(found.kind) ?? 0, found.peakMb));
    }
  };
  const timer = setInterval(sample, sampleMs);
  return {
    run: (command, accepted = [0]) => runIn(group, command, accepted),
    get peaks() {
      return { own: Math.round(own), counted: Math.round(group.peakMb()), processes };
    },
    end() {
      for (const pid of group.pids()) process.kill(pid, "SIGKILL");
    },
    close() {
      clearInterval(timer);
      group.remove();
    },
  };
}

function runIn(group: MemoryGroup, command: readonly string[], accepted: readonly number[]): Promise<string> {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, { stdio: ["ignore", "pipe", "pipe"] });
    if (child.pid !== undefined) group.add(child.pid);
    let [printed, errors] = ["", ""];
    child.stdout.on("data", (chunk) => (printed += String(chunk)));
    child.stderr.on("data", (chunk) => (errors = `${errors}${String(chunk)}`.slice(-10_000)));
    child.on("error", reject);
    // What the program starts may keep the streams open.
    child.on("exit", (code, signal) => {
      if (code !== null && accepted.includes(code)) setTimeout(() => resolve(printed), 200);
      else reject(new Error(`${command.join(" ")} ended with ${code ?? signal}: ${errors}${printed.slice(-2_000)}`));
    });
  });
}

/** Returns the kind of a process, and the most memory that it has had in the main memory, cached files included. */
function processOf(pid: number): { readonly kind: string; readonly peakMb: number } | undefined {
  try {
    const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
    const peakMb = Number(/^VmHWM:\s+(\d+)/m.exec(read("status"))?.[1] ?? 0) / 1024;
    const command = read("cmdline");
    const role = /AWS_LAMBDA_FUNCTION_NAME=([\w-]+)/.exec(read("environ"))?.[1];
    const kind =
      role ?? (command.includes("trainer.js") ? "trainer" : command.includes("cli") ? "command line" : "stack");
    return { kind, peakMb: Math.round(peakMb) };
  } catch {
    return undefined; // It has ended.
  }
}
