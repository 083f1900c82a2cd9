import { join, resolve } from "node:path";
import { buildSync } from "esbuild";

/** Bundles an entry point of the repository into `directory`, as the build does. Returns the path of the bundle. */
export function bundle(entry: string, directory: string): string {
  const outfile = join(directory, `${entry.replaceAll(/[/.]/g, "-")}.js`);
  buildSync({
    absWorkingDir: resolve(__dirname, "../../.."),
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["classic-level"],
    logLevel: "error",
  });
  return outfile;
}
