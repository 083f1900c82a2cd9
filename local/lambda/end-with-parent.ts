import { type ForkOptions, spawnSync } from "node:child_process";

/** The program of util-linux that runs a command which the kernel kills when its parent ends. */
const program = "setpriv";
const options = ["--pdeathsig", "KILL"];

let works: boolean | undefined;

/**
 * Returns options of `fork` for a Node.js process that the kernel kills when this process ends, or undefined where no
 * program can arrange it. A thread that watches the parent instead takes about as long to start as the process.
 */
export function endingWithParent(flags: readonly string[]): Pick<ForkOptions, "execPath" | "execArgv"> | undefined {
  works ??= spawnSync(program, [...options, "true"]).status === 0;
  return works ? { execPath: program, execArgv: [...options, process.execPath, ...flags] } : undefined;
}
