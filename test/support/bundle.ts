import fs from "node:fs";
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

/** Bundles a thread of the trainer into a folder where it finds the packages. The caller removes the folder. */
export function bundleWorker(entry: string): { readonly folder: string; readonly script: string } {
  fs.mkdirSync(path.join(root, "dist"), { recursive: true });
  const folder = fs.mkdtempSync(path.join(root, "dist/test-thread-"));
  const script = path.join(folder, "worker.js");
  bundle({ entryPoints: [`trainer-container/${entry}.ts`], outfile: script });
  return { folder, script };
}

/** Lets the AWS clients of this process and of its threads use a service of a test. */
export function useService(endpoint: string): void {
  const credentials = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
  Object.assign(process.env, { AWS_ENDPOINT_URL: endpoint, AWS_REGION: "us-east-1", ...credentials });
}
