import { join, resolve } from "node:path";
import { buildSync } from "esbuild";

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
