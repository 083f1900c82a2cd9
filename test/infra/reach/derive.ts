import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { repository } from "../synthesized";

/**
 * What each entry point asks IAM for, as `action resource`, by `reach/main.ts`: bundled and run by itself, because the compiler's API is an ES
 * module.
 * @param root directory with a tsconfig.json
 * @throws Error where an entry point takes something from the SDK that `commands.ts` does not know
 */
export function derive(root: string, entries: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const program = path.join(repository, "dist", `reach-${process.pid}.mjs`);
  try {
    buildSync({
      entryPoints: [path.join(__dirname, "main.ts")],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["typescript/*"],
      logLevel: "error",
    });
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, root, ...entries], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  } finally {
    fs.rmSync(program, { force: true });
  }
}
