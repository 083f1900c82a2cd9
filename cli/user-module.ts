import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { InvalidInputError } from "../core/errors";
import type { UploadPort } from "../core/ports";
import { uploadBytes } from "./uploads";

/** The file that modules import as `ringmaster`: next to the bundles, or in the sources. */
const definition = [
  join(__dirname, "define-training.js"),
  join(__dirname, "..", "trainer-container", "define-training.ts"),
].find(existsSync)!;

/**
 * Gives `ringmaster` the same name wherever it is installed, because a bundle's digest must not depend on its place.
 */
const ringmaster: Plugin = {
  name: "ringmaster",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ringmaster$/ }, () => ({ path: "ringmaster", namespace: "ringmaster" }));
    onLoad({ filter: /.*/, namespace: "ringmaster" }, async () => ({
      // The source map is not always installed.
      contents: (await readFile(definition, "utf8")).replace(/^\/\/# sourceMappingURL=.*$/m, ""),
      loader: "ts",
      resolveDir: dirname(definition),
    }));
  },
};

/**
 * Bundles a user's training module into one file and stores it in the content store.
 *
 * TensorFlow.js stays external. The trainer provides its own, so that there is one instance of it.
 *
 * @returns the bundle's SHA-256
 */
export async function bundleModule(path: string, uploads: UploadPort): Promise<string> {
  if (!existsSync(path)) {
    throw new InvalidInputError("the job's module cannot be bundled", [
      { path: "model.path", value: path, rule: "must be a file that exists, relative to the job file" },
    ]);
  }
  const bundle = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "silent",
    external: ["@tensorflow/*"],
    // Gives the trainer the user's line numbers. Paths are relative to the module, so that the bundle is the same from
    // every directory.
    sourcemap: "inline",
    sourcesContent: false,
    absWorkingDir: dirname(path),
    outfile: join(dirname(path), "module.js"),
    plugins: [ringmaster],
  }).catch((cause: { errors?: readonly { text: string; location?: { file: string; line: number } | null }[] }) => {
    throw new InvalidInputError(
      "the job's module cannot be bundled",
      (cause.errors ?? []).map(({ text, location }) => ({
        path: "model.path",
        value: location ? `${relative("", join(dirname(path), location.file))}:${location.line}` : path,
        rule: ruleOf(text),
      })),
      cause,
    );
  });
  return (await uploadBytes(uploads, bundle.outputFiles[0]!.contents)).sha256;
}

/** Returns the broken rule for an error of esbuild. */
function ruleOf(text: string): string {
  if (!text.startsWith("Top-level await")) return `must compile: ${text}`;
  return "must not use await outside of a function: a module is loaded synchronously; read files by readFileSync, and give other values by model.options";
}
