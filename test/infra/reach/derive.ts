import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { repository } from "../synthesized";

/**
 * Returns the rights that each entry point needs, as `action resource`, by `reach/main.ts`. That program is bundled and
 * run separately, because the compiler's API is an ES module.
 * @param root directory with a tsconfig.json
 * @throws Error if an entry point uses a part of the SDK that `commands.ts` does not list
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
