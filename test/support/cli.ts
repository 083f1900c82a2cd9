import { runCommand } from "../../cli/main";
import { applySettings } from "../../trainer-container/engine/native-settings";

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command line in this process: to start one takes longer than most commands. The output goes to no terminal, as
 * that of a process whose output is read. One command runs at a time.
 */
export function runCli(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<CliResult> {
  const result = last.then(() => runNow(args, environment));
  last = result.catch(() => undefined);
  return result;
}

async function runNow(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<CliResult> {
  const { exitCode } = process;
  const before = Object.fromEntries(Object.keys(environment).map((name) => [name, process.env[name]]));
  const [out, err] = [capture(process.stdout), capture(process.stderr)];
  process.exitCode = 0;
  applySettings(environment);
  try {
    await runCommand(args);
    return { code: Number(process.exitCode), out: out.text(), err: err.text() };
  } finally {
    for (const stream of [out, err]) stream.restore();
    applySettings(before);
    process.exitCode = exitCode;
  }
}

function capture(stream: NodeJS.WriteStream) {
  const { write, isTTY, columns } = stream;
  let text = "";
  const taken = (chunk: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    const written = more.at(-1);
    if (typeof written === "function") written();
    return true;
  };
  Object.assign(stream, { write: taken, isTTY: false, columns: undefined });
  return {
    text: () => text,
    restore: () => void Object.assign(stream, { write, isTTY, columns }),
  };
}
