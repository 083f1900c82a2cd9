import { spawn } from "node:child_process";
import { InvalidInputError } from "../core/errors";

export interface CheckRun {
  /** 128 and the signal's number if a signal ended it, as in a shell. */
  readonly exitCode: number;
  /** The end of its output to both streams, in the order of arrival. */
  readonly output: string;
  readonly timedOut: boolean;
}

const outputCharacters = 4_000;
/** Time between SIGTERM and SIGKILL. */
const graceMs = 5_000;

/** Runs a command, and keeps the end of its output; `show` gets it as it arrives. @throws InvalidInputError */
export function runCheck(
  [program, ...args]: readonly string[],
  options: {
    readonly environment: Readonly<Record<string, string>>;
    readonly timeoutSeconds: number;
    readonly show: (chunk: Buffer) => void;
  },
): Promise<CheckRun> {
  return new Promise((done, refuse) => {
    const child = spawn(program!, args, {
      stdio: ["inherit", "pipe", "pipe"],
      env: { ...process.env, ...options.environment },
    });
    let output = "";
    let timedOut = false;
    let killing: NodeJS.Timeout | undefined;
    const deadline = setTimeout(() => {
      timedOut = true;
      child.kill("SIGTERM");
      killing = setTimeout(() => child.kill("SIGKILL"), graceMs);
    }, options.timeoutSeconds * 1_000);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        options.show(chunk);
        output = (output + chunk.toString("utf8")).slice(-outputCharacters);
      });
    }
    child.on("error", (cause) => {
      clearTimeout(deadline);
      const rule = `must be an executable program (${(cause as NodeJS.ErrnoException).code ?? cause.message})`;
      refuse(new InvalidInputError("the check cannot be run", [{ path: "COMMAND", value: program, rule }], cause));
    });
    child.on("close", (code, signal) => {
      clearTimeout(deadline);
      clearTimeout(killing);
      done({ exitCode: code ?? 128 + signalNumber(signal), output, timedOut });
    });
  });
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === "SIGKILL" ? 9 : signal === "SIGTERM" ? 15 : signal === "SIGINT" ? 2 : 1;
}
