import path from "node:path";
import { type BuildOptions, buildSync } from "esbuild";

export const root = path.resolve(__dirname, "../..");

/** Bundles for Node.js, from the repository's root. */
export function bundle(options: BuildOptions): void {
  const settings = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "error" } as const;
  buildSync({ absWorkingDir: root, ...settings, ...options });
}

/** Bundles a script whose imports are relative to the repository's root. TensorFlow.js stays outside: see `packages`. */
export function bundleScript(contents: string, outfile: string): void {
  bundle({ stdin: { contents, resolveDir: root, loader: "ts" }, external: ["@tensorflow/*"], outfile });
}

/** The environment in which a bundle finds the packages outside of it. */
export const packages = { ...process.env, NODE_PATH: path.join(root, "node_modules") };
