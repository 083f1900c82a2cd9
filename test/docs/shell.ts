import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";

export interface CommandResult {
  readonly code: number;
  /** Output of both streams, in order. */
  readonly output: string;
}

/**
 * Runs commands one after the other in one shell, as a reader pastes them: what one exports the next one has.
 *
 * @returns a result for each command; all are run, whatever fails before them
 */
export async function runInShell(
  commands: readonly string[],
  {
    cwd,
    env,
    timeoutMs = 180_000,
  }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly timeoutMs?: number },
): Promise<readonly CommandResult[]> {
  const mark = `::${randomBytes(8).toString("hex")}`;
  const script = ["exec 2>&1", "set -o pipefail", ...commands.flatMap((text) => [text, `echo "${mark} $?"`])].join(
    "\n",
  );
  const output = await new Promise<string>((resolve, reject) => {
    const child = spawn("bash", ["-c", script], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    // A group of its own: a command that hangs has children.
    const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), timeoutMs);
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
  const parts = output.split(new RegExp(`${mark} (\\d+)\\n`));
  return commands.map((_, i) => ({ output: parts[2 * i] ?? "", code: Number(parts[2 * i + 1] ?? Number.NaN) }));
}
