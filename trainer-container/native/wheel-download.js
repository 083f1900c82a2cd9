#!/usr/bin/env node
/**
 * Downloads TensorFlow's wheels for this machine, and accepts only the pinned bytes. pip unpacks or runs nothing of them.
 *
 *     node trainer-container/native/wheel-download.js --to FOLDER [--library cpu|gpu] [--timeout SECONDS]
 *
 * Keeps a wheel that the folder already has. Exits with 1 if the wheel is not there after the time limit. The trainer's
 * image needs only this file, digests.js and run.js for its layer of wheels.
 */
const fs = require("node:fs");
const path = require("node:path");
const { parseArgs } = require("node:util");
const { verifyFile, wheels } = require("./digests");
const { run } = require("./run");

/** The wheel of this machine's kind; the one without CUDA is published for Linux on x64 only. */
function wheelName(library) {
  return library === "cpu" && process.platform === "linux" && process.arch === "x64" ? "tensorflow-cpu" : "tensorflow";
}

/** @returns {string | undefined} the wheel of a library in a folder. */
function findWheel(library, folder) {
  const project = `${wheelName(library).replace("-", "_")}-`;
  const file = fs.readdirSync(folder).find((entry) => entry.startsWith(project) && entry.endsWith(".whl"));
  return file && path.join(folder, file);
}

/** @throws Error without a Python that has pip. */
async function findPython(deadline) {
  const python = await firstThatRuns(["python3", "python"], ["-m", "pip", "--version"], deadline);
  if (!python) throw new Error("no Python with pip");
  return python;
}

async function firstThatRuns(commands, args, deadline) {
  for (const command of commands.filter(Boolean)) {
    try {
      await run(command, args, { deadline });
      return command;
    } catch {
      // not there: try the next
    }
  }
  return undefined;
}

/**
 * Downloads the wheel for this machine, unless the folder has it.
 *
 * @returns {Promise<string>} the wheel's path.
 * @throws Error where its bytes are not the pinned ones. pip's cache, index and `find-links` folders are not trusted.
 */
async function downloadWheel(library, folder, deadline) {
  if (!findWheel(library, folder)) {
    const python = await findPython(deadline);
    const quiet = ["--no-deps", "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "3"];
    const anyPython = ["--only-binary=:all:", "--python-version", wheels.python];
    const name = `${wheelName(library)}==${wheels.version}`;
    await run(python, ["-m", "pip", "download", name, ...quiet, ...anyPython, "--dest", folder], { deadline });
  }
  const wheel = findWheel(library, folder);
  if (!wheel) throw new Error(`pip left no wheel of ${wheelName(library)}`);
  await verifyFile(wheel, "sha256", wheels.sha256[path.basename(wheel)]);
  return wheel;
}

async function main() {
  const options = { to: { type: "string" }, library: { type: "string", default: "cpu" }, timeout: { type: "string" } };
  const { to, library, timeout = "3600" } = parseArgs({ options }).values;
  if (!to) throw new Error("--to is missing: name the folder of the wheels");
  fs.mkdirSync(to, { recursive: true });
  process.stdout.write(`${await downloadWheel(library, to, Date.now() + secondsOf(timeout) * 1_000)}\n`);
}

/** @throws Error for anything but a whole number of seconds. */
function secondsOf(text) {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Error(`--timeout is ${JSON.stringify(text)}, but must be a whole number of seconds from 1 to 999999`);
}

module.exports = { downloadWheel, findPython, findWheel, firstThatRuns, secondsOf };
if (require.main === module) {
  main().catch((error) => {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  });
}
