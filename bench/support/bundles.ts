import { spawnSync } from "node:child_process";

/** Returns the folder of the bundles of `npm run build`, which Batch and Lambda start. @throws Error if the build fails */
export function builtBundles(): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/build.js"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the bundles could not be built: ${stderr}`);
  return stdout.trim();
}
