/** Processes of a host: one for each training of a shared job, and one for each GPU. */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { trainerExitCodes } from "../../core/runs/training-task";
import { startsPerContainer } from "../../platform/members";
import { visibleDevices } from "../engine/native-settings";
import { type Interruption, pause } from "./interruption";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Trains a run in a process of its own: a user's module must not reach the job's next run.
 * @returns its exit code, as `exitCodeOf` gives it
 */
export function trainInProcess(
  environment: Environment,
  interruption: Interruption,
  program: readonly string[] = [...process.execArgv, ...process.argv.slice(1)],
): Promise<number> {
  const child = spawn(process.execPath, program, {
    env: { ...environment, RINGMASTER_SHARED_JOB: "" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const remove = interruption.onceRaised(() => child.kill("SIGTERM"));
  return exitCodeOf(child, "exit", interruption).finally(remove);
}

/** 128 and the number for a signal; after an interruption the code by which Batch starts the job again. */
function exitCodeOf(child: ChildProcess, event: "exit" | "close", interruption: Interruption): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once(event, (code: number | null, signal: NodeJS.Signals | null) => {
      if (code !== null) resolve(code);
      else if (interruption.raised) resolve(trainerExitCodes.retry);
      else resolve(128 + constants.signals[signal as NodeJS.Signals]);
    });
  });
}

interface HostWorkersOptions {
  readonly environment: Environment;
  readonly count: number;
  /** Index of the container's first worker within the run. */
  readonly firstIndex: number;
  readonly interruption: Interruption;
  readonly write: (line: string) => void;
  /** Default: this process's program. */
  readonly program?: readonly string[];
  /** Milliseconds before a lost worker is started again. */
  readonly pauseMs?: number;
}

/** Exit codes that Batch's retry rules do not retry (`platform/trainer-job.ts`). */
const finalCodes: readonly number[] = [trainerExitCodes.failed, 133, 134, 139];

/**
 * Runs one process for each GPU. A lost one starts again while the others train on; SIGTERM reaches all.
 * @returns the worst of the last exit codes (`worstOf`)
 */
export async function runHostWorkers(options: HostWorkersOptions): Promise<number> {
  const workers = Array.from({ length: options.count }, (_, worker) => runWorker(options, worker));
  return worstOf(await Promise.all(workers));
}

/** Returns a container's exit code: a failure that a new attempt would meet again, else a loss, else 0. */
export function worstOf(codes: readonly number[]): number {
  const failed = codes.find((code) => finalCodes.includes(code));
  return failed ?? codes.find((code) => code !== trainerExitCodes.completed) ?? trainerExitCodes.completed;
}

async function runWorker(options: HostWorkersOptions, worker: number): Promise<number> {
  const { interruption, write, firstIndex, pauseMs = 2_000 } = options;
  for (let start = 1; ; start += 1) {
    const code = await runProcess(options, worker, start);
    const ends = code === trainerExitCodes.completed || finalCodes.includes(code);
    if (ends || interruption.raised || start === startsPerContainer) return code;
    write(`[worker ${firstIndex + worker}] its process ended with code ${code}, and starts again`);
    await pause(interruption, pauseMs);
    if (interruption.raised) return trainerExitCodes.retry;
  }
}

function runProcess(options: HostWorkersOptions, worker: number, start: number): Promise<number> {
  const { environment, firstIndex, interruption, write } = options;
  const program = options.program ?? [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, program, {
    env: {
      ...environment,
      RINGMASTER_HOST_WORKER: String(worker),
      RINGMASTER_HOST_START: String(start),
      CUDA_VISIBLE_DEVICES: visibleDevices(worker, environment["CUDA_VISIBLE_DEVICES"]),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  forward(child.stdout, firstIndex + worker, write);
  forward(child.stderr, firstIndex + worker, write);
  const remove = interruption.onceRaised(() => child.kill("SIGTERM"));
  return exitCodeOf(child, "close", interruption).finally(remove);
}

/** Forwards a worker's output by lines. The trainer's own lines have their worker; the others get it as a prefix. */
function forward(stream: Readable, index: number, write: (line: string) => void): void {
  createInterface({ input: stream }).on("line", (line) =>
    write(line.startsWith("{") && line.includes(`"workerIndex":${index}`) ? line : `[worker ${index}] ${line}`),
  );
}
