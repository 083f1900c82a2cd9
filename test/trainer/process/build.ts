import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { ensureBuild, external } from "../../../scripts/build.js";

const root = path.resolve(__dirname, "../../..");

/** Arguments of Node.js for the trainer of the current build, which the embedded cloud starts in the same way. */
export function trainerArguments(): readonly string[] {
  return argumentsIn(ensureBuild());
}

function argumentsIn(bundles: string): readonly string[] {
  return ["--require", path.join(bundles, "preload.js"), path.join(bundles, "trainer.js")];
}

/**
 * Bundles the trainer without its threads for uploads and prefetching. Its processes share compiled code like those of
 * the build. The caller removes the folder.
 *
 * @returns the folder, and the arguments of Node.js
 */
export function buildTrainer(): { readonly folder: string; readonly nodeArguments: readonly string[] } {
  fs.mkdirSync(path.join(root, "dist"), { recursive: true });
  const folder = fs.mkdtempSync(path.join(root, "dist/test-trainer-")); // below the repository: packages stay outside
  buildSync({
    absWorkingDir: root,
    entryPoints: {
      preload: "local/start/preload.ts",
      trainer: "trainer-container/main.ts",
      "metrics-outbox-worker": "trainer-container/telemetry/outbox-worker.ts",
    },
    outdir: folder,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    supported: { "dynamic-import": false }, // as in the build: V8's cache cannot hold `import()`
    mainFields: ["module", "main"],
    sourcemap: true,
    sourcesContent: false,
    external: [...external],
    logLevel: "error",
  });
  return { folder, nodeArguments: argumentsIn(folder) };
}
