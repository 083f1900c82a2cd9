#!/usr/bin/env node
/**
 * Obtains the native TensorFlow binding: keeps the installed one where its files are intact and it works, else builds it
 * against the library in TensorFlow's Python wheel. Prints in one line which backend training uses, and why.
 *
 *     node trainer-container/native/install.js [--library cpu|gpu] [--timeout SECONDS] [--wheels FOLDER] [--json]
 *
 * `--wheels` names a folder of `trainer-container/native/wheel-download.js`. Idempotent; may run in several processes at once. Ends
 * within the timeout, by default 90 s. Always exits with 0.
 */
const fs = require("node:fs");
const path = require("node:path");
const { parseArgs } = require("node:util");
const { digestsIn, verifyFile } = require("./digests");
const { nativeFolder } = require("./location");
const { probe } = require("./probe");
const { buildAgainstWheel } = require("./wheel");
const { secondsOf } = require("./wheel-download");

const manifestName = "native.json";
const defaultTimeoutSeconds = 90;
/** The time that remains for the check of a new binding, in milliseconds. */
const probeMilliseconds = 5_000;

/**
 * @param {{ library?: "cpu" | "gpu", timeoutSeconds?: number, wheels?: string }} options
 * @returns {Promise<{ backend: "native" | "wasm", tensorflow?: string, folder?: string, reasons: string[] }>}
 */
async function ensureNative({ library = "cpu", timeoutSeconds = defaultTimeoutSeconds, wheels } = {}) {
  const end = Date.now() + timeoutSeconds * 1_000;
  const folder = nativeFolder(library);
  const reasons = [];
  try {
    const present = await presentBinding(folder, end, reasons);
    if (present) return { backend: "native", ...present, folder, reasons };
    removeStaleStaging(folder);
    return { backend: "native", ...(await install(folder, library, end, wheels)), folder, reasons };
  } catch (error) {
    reasons.push(error.message);
  }
  return { backend: "wasm", reasons };
}

/** Returns the manifest of a binding that is installed, intact and works. Removes any other. */
async function presentBinding(folder, deadline, reasons) {
  let manifest;
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, manifestName), "utf8"));
  } catch {
    return undefined;
  }
  try {
    for (const [name, sha256] of Object.entries(manifest.files ?? {}))
      await verifyFile(path.join(folder, name), "sha256", sha256);
    await probe(path.join(folder, manifest.binding), deadline);
    return manifest;
  } catch (error) {
    reasons.push(`the installed binding was removed: ${error.message}`);
    fs.rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** Builds next to the folder and renames, so that the folder is complete or absent. */
async function install(folder, library, end, wheels) {
  const staging = `${folder}.tmp-${process.pid}`;
  fs.mkdirSync(staging, { recursive: true });
  try {
    const binding = await buildAgainstWheel(staging, library, end - probeMilliseconds, wheels);
    const tensorflow = await probe(path.join(staging, binding), end);
    const manifest = { binding, tensorflow, library, files: await digestsIn(staging) };
    fs.writeFileSync(path.join(staging, manifestName), JSON.stringify(manifest));
    try {
      fs.renameSync(staging, folder);
    } catch (error) {
      if (!fs.existsSync(path.join(folder, manifestName))) throw error; // another process was first: use its binding
    }
    return manifest;
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}

/** Removes the folders that killed processes have left for an hour. */
function removeStaleStaging(folder) {
  const parent = path.dirname(folder);
  const hourAgo = Date.now() - 3_600_000;
  for (const name of fs.existsSync(parent) ? fs.readdirSync(parent) : []) {
    const full = path.join(parent, name);
    if (name.includes(".tmp-") && fs.statSync(full).mtimeMs < hourAgo)
      fs.rmSync(full, { recursive: true, force: true });
  }
}

/** Returns one line for people. */
function describe({ backend, tensorflow, reasons }) {
  const why = reasons.join("; ");
  if (backend === "wasm") return `backend: WebAssembly (no native TensorFlow: ${why})`;
  return `backend: native TensorFlow ${tensorflow}${why ? ` (${why})` : ""}`;
}

async function main() {
  const { values } = parseArgs({
    options: {
      library: { type: "string", default: "cpu" },
      timeout: { type: "string", default: String(defaultTimeoutSeconds) },
      wheels: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const { library, timeout, wheels, json } = values;
  const result = await ensureNative({ library, timeoutSeconds: secondsOf(timeout), wheels });
  process.stdout.write(`${json ? JSON.stringify(result) : describe(result)}\n`);
}

module.exports = { ensureNative, describe };
if (require.main === module) {
  main().catch((error) => process.stdout.write(`backend: WebAssembly (${error.message})\n`));
}
