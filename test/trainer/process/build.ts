import fs from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { ensureBuild, external } from "../../../scripts/build.js";

const root = path.resolve(__dirname, "../../..");

/** Arguments of Node.js for the trainer of the current build, which the embedded cloud starts in the same way. */
export function trainerArguments(): readonly string[] {
  const bundles = ensureBuild();
  return ["--require", path.join(bundles, "preload.js"), path.join(bundles, "trainer.js")];
}

/** Bundles the trainer without its threads for uploads and prefetching. The caller removes the folder. */
export function buildTrainer(): { readonly folder: string; readonly script: string } {
  fs.mkdirSync(path.join(root, "dist"), { recursive: true });
  const folder = fs.mkdtempSync(path.join(root, "dist/test-trainer-")); // below the repository: packages stay outside
  buildSync({
    absWorkingDir: root,
    entryPoints: {
      trainer: "trainer-container/main.ts",
      "metrics-outbox-worker": "trainer-container/telemetry/outbox-worker.ts",
    },
    outdir: folder,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    mainFields: ["module", "main"],
    external: [...external],
    logLevel: "error",
  });
  return { folder, script: path.join(folder, "trainer.js") };
}
