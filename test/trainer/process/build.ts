import fs from "node:fs";
import path from "node:path";
import { ensureBuild } from "../../../scripts/build.js";

/** Arguments of Node.js for the trainer of the current build, which the embedded cloud starts in the same way. */
export function trainerArguments(): readonly string[] {
  return argumentsIn(ensureBuild());
}

function argumentsIn(bundles: string): readonly string[] {
  return ["--require", path.join(bundles, "preload.js"), path.join(bundles, "trainer.js")];
}

/**
 * Copies the trainer of the build without its threads, which take a third of the processor time of a short training. Its
 * processes share compiled code like those of the build. The caller removes the folder.
 *
 * @returns the folder, and the arguments of Node.js
 */
export function buildTrainer(): { readonly folder: string; readonly nodeArguments: readonly string[] } {
  const bundles = ensureBuild();
  const folder = fs.mkdtempSync(path.join(path.dirname(bundles), "test-trainer-")); // its packages are the repository's
  for (const name of ["preload.js", "trainer.js"])
    for (const file of [name, `${name}.map`]) fs.copyFileSync(path.join(bundles, file), path.join(folder, file));
  return { folder, nodeArguments: argumentsIn(folder) };
}
