import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { trainerExitCodes } from "../../core/runs/training-task";
import type { Interruption } from "./interruption";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Trains a run in a process of its own, with this process's program and output: the state of a user's module must not
 * reach the next run of the job. The process ends with this one, because it is in the same container.
 *
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

/**
 * Resolves with a process's exit code. For a process that a signal has ended: 128 and the signal's number; after an
 * interruption the code by which Batch starts the job again.
 *
 * @param event `close` waits for the output, too
 */
export function exitCodeOf(child: ChildProcess, event: "exit" | "close", interruption: Interruption): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once(event, (code: number | null, signal: NodeJS.Signals | null) => {
      if (code !== null) resolve(code);
      else if (interruption.raised) resolve(trainerExitCodes.retry);
      else resolve(128 + constants.signals[signal as NodeJS.Signals]);
    });
  });
}
