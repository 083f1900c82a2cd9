import { spawnSync } from "node:child_process";

/** The folder of the bundles as `npm run build` makes them: what Batch and Lambda start. @throws Error where they do not build. */
export function builtBundles(): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/build.js"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the bundles could not be built: ${stderr}`);
  return stdout.trim();
}
