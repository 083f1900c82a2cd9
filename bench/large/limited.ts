import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createMemoryGroup, type MemoryGroup } from "../../test/support/memory-group";
import { processTimeOf } from "../support/cpu";

export interface Limited {
  /** Starts a program in the group, and resolves with what it prints. @throws Error unless it ends with an accepted code */
  run(command: readonly string[], accepted?: readonly number[]): Promise<string>;
  readonly peaks: Peaks;
  end(): void;
  close(): void;
}

export interface Peaks {
  /** The use of the whole group without cached files, in MiB. */
  readonly own: number;
  /** The use that the kernel compares with the limit, with cached files, in MiB. */
  readonly counted: number;
  /** By the kind of a process: the largest resident set of one of them in MiB, and the processor seconds of all. */
  readonly processes: ReadonlyMap<string, { readonly peakMb: number; readonly cpuSeconds: number }>;
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
  /** The last sample of each process. */
  const seen = new Map<number, ProcessSample>();
  let own = 0;
  const sample = (): void => {
    own = Math.max(own, group.ownMb());
    for (const pid of group.pids()) {
      const found = processOf(pid);
      if (found) seen.set(pid, found);
    }
  };
  const timer = setInterval(sample, sampleMs);
  return {
    run: (command, accepted = [0]) => runIn(group, command, accepted),
    get peaks() {
      return { own: Math.round(own), counted: Math.round(group.peakMb()), processes: byKind([...seen.values()]) };
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
    // A program that was started and detached keeps the streams open.
    child.on("exit", (code, signal) => {
      if (code !== null && accepted.includes(code)) setTimeout(() => resolve(printed), 200);
      else reject(new Error(`${command.join(" ")} ended with ${code ?? signal}: ${errors}${printed.slice(-2_000)}`));
    });
  });
}

interface ProcessSample {
  readonly kind: string;
  /** The most memory that it has had, mapped files included. */
  readonly peakMb: number;
  readonly cpuSeconds: number;
}

function byKind(samples: readonly ProcessSample[]): Peaks["processes"] {
  const kinds = new Map<string, { readonly peakMb: number; readonly cpuSeconds: number }>();
  for (const { kind, peakMb, cpuSeconds } of samples) {
    const known = kinds.get(kind) ?? { peakMb: 0, cpuSeconds: 0 };
    kinds.set(kind, { peakMb: Math.max(known.peakMb, peakMb), cpuSeconds: known.cpuSeconds + cpuSeconds });
  }
  return kinds;
}

function processOf(pid: number): ProcessSample | undefined {
  try {
    const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
    const peakMb = Number(/^VmHWM:\s+(\d+)/m.exec(read("status"))?.[1] ?? 0) / 1024;
    const command = read("cmdline");
    const role = /AWS_LAMBDA_FUNCTION_NAME=([\w-]+)/.exec(read("environ"))?.[1];
    const kind = role ?? /trainer|ringmaster(?=\.js)/.exec(command)?.[0] ?? "stack";
    return { kind, peakMb: Math.round(peakMb), cpuSeconds: (processTimeOf(pid) ?? 0) / 1_000 };
  } catch {
    return undefined; // It has ended.
  }
}
