#!/usr/bin/env node
/**
 * Obtains the native TensorFlow binding, in this order: the one that is there and works; the package's own download; built
 * against the library in TensorFlow's Python wheel. Without any, WebAssembly it is. Says in one line which and why.
 *
 *     node scripts/native.js [--library cpu|gpu] [--source auto|download|wheel] [--json]
 *
 * Never fails its caller (exit 0), may be run again at any time and by several at once, and ends within about 90 s.
 */
const fs = require("node:fs");
const path = require("node:path");
const { parseArgs } = require("node:util");
const { downloadPublished } = require("./native/download");
const { nativeFolder } = require("./native/location");
const { probe } = require("./native/probe");
const { buildAgainstWheel } = require("./native/wheel");

const manifestName = "native.json";
const totalMilliseconds = 90_000;
const sources = [
  { name: "download", title: "its own download", obtain: downloadPublished, milliseconds: 20_000 },
  { name: "wheel", title: "built against TensorFlow's wheel", obtain: buildAgainstWheel, milliseconds: 85_000 },
];

/**
 * @param {{ library?: "cpu" | "gpu", source?: "auto" | "download" | "wheel" }} options
 * @returns {Promise<{ backend: "native" | "wasm", tensorflow?: string, source?: string, folder?: string, reasons: string[] }>}
 */
async function ensureNative({ library = "cpu", source = "auto" } = {}) {
  const end = Date.now() + totalMilliseconds;
  const folder = nativeFolder(library);
  const reasons = [];
  try {
    const present = await presentBinding(folder, end);
    if (present) return { backend: "native", ...present, folder, reasons };
    removeStaleStaging(folder);
    for (const each of sources) {
      if (source !== "auto" && source !== each.name) continue;
      try {
        const deadline = Math.min(end, Date.now() + each.milliseconds);
        const manifest = await install(folder, library, each, deadline, end);
        return { backend: "native", ...manifest, folder, reasons };
      } catch (error) {
        reasons.push(`${each.title}: ${error.message}`);
      }
    }
  } catch (error) {
    reasons.push(error.message);
  }
  return { backend: "wasm", reasons };
}

/** The manifest of a binding that is installed and still works. One that no longer does is removed. */
async function presentBinding(folder, deadline) {
  let manifest;
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, manifestName), "utf8"));
  } catch {
    return undefined;
  }
  try {
    await probe(path.join(folder, manifest.binding), deadline);
    return manifest;
  } catch {
    fs.rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** Builds beside the folder and renames: it is there whole or not at all. */
async function install(folder, library, { name, obtain }, deadline, end) {
  const staging = `${folder}.tmp-${process.pid}-${name}`;
  fs.mkdirSync(staging, { recursive: true });
  try {
    const binding = await obtain(staging, library, deadline);
    const tensorflow = await probe(path.join(staging, binding), end);
    const manifest = { binding, tensorflow, source: name, library };
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

/** Left by a run that was killed. */
function removeStaleStaging(folder) {
  const parent = path.dirname(folder);
  const hourAgo = Date.now() - 3_600_000;
  for (const name of fs.existsSync(parent) ? fs.readdirSync(parent) : []) {
    const full = path.join(parent, name);
    if (name.includes(".tmp-") && fs.statSync(full).mtimeMs < hourAgo)
      fs.rmSync(full, { recursive: true, force: true });
  }
}

/** One line for people. */
function describe({ backend, tensorflow, source, reasons }) {
  const why = reasons.join("; ");
  if (backend === "wasm") return `backend: WebAssembly (no native TensorFlow: ${why})`;
  const title = sources.find(({ name }) => name === source)?.title ?? source;
  return `backend: native TensorFlow ${tensorflow} (${title}${why ? `; not ${why}` : ""})`;
}

async function main() {
  const { values } = parseArgs({
    options: {
      library: { type: "string", default: "cpu" },
      source: { type: "string", default: "auto" },
      json: { type: "boolean", default: false },
    },
  });
  const result = await ensureNative(values);
  process.stdout.write(`${values.json ? JSON.stringify(result) : describe(result)}\n`);
}

module.exports = { ensureNative, describe };
if (require.main === module) {
  main().catch((error) => process.stdout.write(`backend: WebAssembly (${error.message})\n`));
}
