import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pack } from "../../../scripts/pack.js";
import type { CliResult } from "../harness";

const root = resolve(__dirname, "..", "..", "..");

/** A newcomer's environment: none of the variables of the checkout's npm, and no stack but the project's own. */
const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_PATH)/i.test(name))),
  RINGMASTER_API_URL: undefined,
  RINGMASTER_TOKEN: undefined,
  RINGMASTER_TEAM: undefined,
  NO_COLOR: "1",
};

export class Project {
  readonly directory = mkdtempSync(join(tmpdir(), "ringmaster-newcomer-"));

  install(): void {
    const tarball = pack(this.directory);
    this.execute("npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", tarball);
  }

  file(name: string, content: string | Uint8Array): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  /** @returns standard output. @throws Error where the exit code is not 0 */
  execute(program: string, ...args: readonly string[]): string {
    return execFileSync(program, args, { cwd: this.directory, env: environment, encoding: "utf8", stdio: "pipe" });
  }

  run(...args: readonly string[]): Promise<CliResult> {
    return this.spawn(join(this.directory, "node_modules", ".bin", "ringmaster"), args);
  }

  private spawn(command: string, args: readonly string[]): Promise<CliResult> {
    return new Promise((done, reject) => {
      const child = spawn(command, args, { cwd: this.directory, env: environment });
      const output = { stdout: "", stderr: "" };
      child.stdout.on("data", (chunk) => {
        output.stdout += chunk;
      });
      child.stderr.on("data", (chunk) => {
        output.stderr += chunk;
      });
      child.on("error", reject);
      child.on("close", (code) => done({ code: code ?? -1, ...output }));
    });
  }

  /**
   * Runs with `--json`.
   *
   * @param script runs instead of the installed command
   * @throws Error where the exit code is not one of those expected
   */
  async json<T>(args: readonly string[], expected: readonly number[] = [0], script?: string): Promise<T> {
    const all = [...args, "--json"];
    const ended = script === undefined ? this.run(...all) : this.spawn(process.execPath, [script, ...all]);
    const { code, stdout, stderr } = await ended;
    if (!expected.includes(code))
      throw new Error(`ringmaster ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  }

  /** Checks types by the checkout's compiler, and nothing else of it. @returns the compiler's messages */
  checkTypes(compilerOptions: object, ...files: readonly string[]): string {
    const options = { strict: true, skipLibCheck: true, noEmit: true, target: "es2023", types: [], ...compilerOptions };
    this.file("tsconfig.json", JSON.stringify({ compilerOptions: options, files }));
    try {
      return this.execute(process.execPath, join(root, "node_modules", "typescript", "bin", "tsc"));
    } catch (error) {
      return (error as { readonly stdout: string }).stdout;
    }
  }

  async remove(): Promise<void> {
    await this.run("down");
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
