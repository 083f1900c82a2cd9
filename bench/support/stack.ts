import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopWhenEnded } from "./ending";

/** The embedded cloud over its own folder, used through the command line. */
export interface BenchStack {
  readonly directory: string;
  /** URL of its API; below, the process that serves it. */
  readonly api: string;
  readonly pid: number;
  /** URL of the AWS services. */
  readonly endpoint: string;
  ringmaster(args: readonly string[], accepted?: readonly number[]): unknown;
  close(): void;
}

export function runNode(script: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${script} ended with code ${status}: ${stderr}`);
}

/** @param root directory of the product: this checkout, or a changed copy of it */
export function startStack(root = process.cwd()): BenchStack {
  const cli = join(root, "bin", "ringmaster.js");
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-"));
  const ringmaster = (args: readonly string[], accepted: readonly number[] = [0]): unknown => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [cli, "--data", join(directory, "data"), ...args, "--json"],
      { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
    );
    if (status === null || !accepted.includes(status))
      throw new Error(`ringmaster ${args.join(" ")}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  };
  const stop = (): void => {
    ringmaster(["down"]);
    rmSync(directory, { recursive: true, force: true });
  };
  const closed = stopWhenEnded(stop);
  const { api, pid, endpoint } = ringmaster(["up", "--detach", "--port", "0", "--api-port", "0"]) as {
    readonly api: string;
    readonly pid: number;
    readonly endpoint: string;
  };
  return {
    directory,
    api,
    pid,
    endpoint,
    ringmaster,
    close() {
      closed();
      stop();
    },
  };
}

/** Returns a running stack by its `stack.json`. */
export function stackAt(file: string): Pick<BenchStack, "api" | "pid"> {
  return JSON.parse(readFileSync(file, "utf8")) as Pick<BenchStack, "api" | "pid">;
}
