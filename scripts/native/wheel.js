/**
 * Builds the binding against the C library inside TensorFlow's Python wheel, which contains the headers. Compiles the
 * package's two C++ files directly, because node-gyp would download more for the same call of the compiler.
 */
const fs = require("node:fs");
const path = require("node:path");
const { verifyFile, wheels } = require("./digests");
const { nodeHeaders } = require("./headers");
const { napiVersion, packageFolder } = require("./location");
const { run } = require("./run");

const isMac = process.platform === "darwin";
const libraries = isMac
  ? ["libtensorflow_framework.2.dylib", "libtensorflow_cc.2.dylib"]
  : ["libtensorflow_framework.so.2", "libtensorflow_cc.so.2"];

/** Headers that the binding reaches; all of them would be 268 MB. */
const headerFolders = ["tensorflow/c/", "tensorflow/core/platform/", "xla/tsl/", "tsl/"];

const unpackScript = `
import sys, zipfile
wheel, target, libraries, folders = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4].split(",")
archive = zipfile.ZipFile(wheel)
for name in archive.namelist():
    if name in ["tensorflow/" + library for library in libraries] or any(
        name.startswith("tensorflow/include/" + folder) for folder in folders):
        archive.extract(name, target)
`;

/** The wheel of this machine's kind; the one without CUDA is published for Linux on x64 only. */
function wheelName(library) {
  return library === "cpu" && process.platform === "linux" && process.arch === "x64" ? "tensorflow-cpu" : "tensorflow";
}

/** @returns {Promise<string>} the binding's path within `staging`. */
async function buildAgainstWheel(staging, library, deadline) {
  const compiler = await firstThatRuns([process.env.CXX, "c++", "g++", "clang++"], ["--version"], deadline);
  if (!compiler) throw new Error("no C++ compiler (c++, g++ or clang++)");
  const python = await firstThatRuns(["python3", "python"], ["-m", "pip", "--version"], deadline);
  if (!python) throw new Error("no Python with pip");
  const headers = await nodeHeaders(staging, deadline);

  const wheel = await downloadWheel(python, wheelName(library), staging, deadline);
  await run(python, ["-c", unpackScript, wheel, staging, libraries.join(), headerFolders.join()], { deadline });
  fs.rmSync(wheel);
  for (const name of libraries) fs.renameSync(path.join(staging, "tensorflow", name), path.join(staging, name));
  await compile(compiler, headers, staging, deadline);
  fs.rmSync(path.join(staging, "tensorflow"), { recursive: true });
  return "tfjs_binding.node";
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
 * Downloads the wheel for this machine. pip unpacks or runs nothing of it.
 *
 * @throws Error where its bytes are not the pinned ones. pip's cache, index and `find-links` folders are not trusted.
 */
async function downloadWheel(python, name, staging, deadline) {
  const quiet = ["--no-deps", "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1"];
  const anyPython = ["--only-binary=:all:", "--python-version", wheels.python];
  const args = ["-m", "pip", "download", `${name}==${wheels.version}`, ...quiet, ...anyPython, "--dest", staging];
  await run(python, args, { deadline });
  const file = fs.readdirSync(staging).find((entry) => entry.endsWith(".whl"));
  if (!file) throw new Error(`pip left no wheel of ${name}`);
  const wheel = path.join(staging, file);
  await verifyFile(wheel, "sha256", wheels.sha256[file]);
  return wheel;
}

async function compile(compiler, headers, staging, deadline) {
  const sources = ["tfjs_backend.cc", "tfjs_binding.cc"].map((file) => path.join(packageFolder, "binding", file));
  const include = [headers, path.join(staging, "tensorflow", "include"), packageFolder].map((folder) => `-I${folder}`);
  const link = isMac
    ? ["-undefined", "dynamic_lookup", "-Wl,-rpath,@loader_path", ...libraries.map((name) => path.join(staging, name))]
    : ["-Wl,-rpath,$ORIGIN", `-L${staging}`, ...[...libraries].reverse().map((name) => `-l:${name}`)];
  const flags = ["-std=c++17", "-O2", "-fPIC", "-shared", `-DNAPI_VERSION=${napiVersion}`];
  const output = ["-o", path.join(staging, "tfjs_binding.node")];
  await run(compiler, [...flags, ...include, ...sources, ...output, ...link], { deadline });
}

module.exports = { buildAgainstWheel };
