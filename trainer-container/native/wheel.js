/**
 * Builds the binding against the C library inside TensorFlow's Python wheel, which contains the headers. Compiles the
 * package's two C++ files directly, because node-gyp would download more for the same call of the compiler. The binding
 * also contains operations of ours.
 */
const fs = require("node:fs");
const path = require("node:path");
const { nodeHeaders } = require("./headers");
const { napiVersion, packageFolder } = require("./location");
const { run } = require("./run");
const { downloadWheel, findPython, firstThatRuns } = require("./wheel-download");

const isMac = process.platform === "darwin";
const libraries = isMac
  ? ["libtensorflow_framework.2.dylib", "libtensorflow_cc.2.dylib"]
  : ["libtensorflow_framework.so.2", "libtensorflow_cc.so.2"];

/** Headers that the binding reaches; all of them would be 268 MB. */
const headerFolders = [
  "tensorflow/c/",
  "tensorflow/core/common_runtime/next_pluggable_device/c/",
  "tensorflow/core/platform/",
  "xla/tsl/",
  "tsl/",
];

const unpackScript = `
import sys, zipfile
wheel, target, libraries, folders = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4].split(",")
archive = zipfile.ZipFile(wheel)
for name in archive.namelist():
    if name in ["tensorflow/" + library for library in libraries] or any(
        name.startswith("tensorflow/include/" + folder) for folder in folders):
        archive.extract(name, target)
`;

/**
 * @param {string | undefined} wheelFolder a folder with wheels that were downloaded earlier; they stay there.
 * @returns {Promise<string>} the binding's path within `staging`.
 */
async function buildAgainstWheel(staging, library, deadline, wheelFolder) {
  const compiler = await firstThatRuns([process.env.CXX, "c++", "g++", "clang++"], ["--version"], deadline);
  if (!compiler) throw new Error("no C++ compiler (c++, g++ or clang++)");
  const python = await findPython(deadline);
  const headers = await nodeHeaders(staging, deadline);

  const wheel = await downloadWheel(library, wheelFolder ?? staging, deadline);
  await run(python, ["-c", unpackScript, wheel, staging, libraries.join(), headerFolders.join()], { deadline });
  if (wheelFolder === undefined) fs.rmSync(wheel);
  for (const name of libraries) fs.renameSync(path.join(staging, "tensorflow", name), path.join(staging, name));
  await compile(compiler, headers, staging, deadline);
  fs.rmSync(path.join(staging, "tensorflow"), { recursive: true });
  return "tfjs_binding.node";
}

async function compile(compiler, headers, staging, deadline) {
  const published = ["tfjs_backend.cc", "tfjs_binding.cc"].map((file) => path.join(packageFolder, "binding", file));
  const own = ["adam.cc", "pools.cc", "products.cc", "session.cc", "sums.cc"].map((file) =>
    path.join(__dirname, "operations", file),
  );
  const sources = [...published, ...own];
  const include = [headers, path.join(staging, "tensorflow", "include"), packageFolder].map((folder) => `-I${folder}`);
  const link = isMac
    ? ["-undefined", "dynamic_lookup", "-Wl,-rpath,@loader_path", ...libraries.map((name) => path.join(staging, name))]
    : ["-Wl,-rpath,$ORIGIN", `-L${staging}`, ...[...libraries].reverse().map((name) => `-l:${name}`)];
  // Vector registers of any width round equally if a product and a sum are not contracted.
  const arithmetic = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"];
  const flags = ["-std=c++17", ...arithmetic, "-pthread", "-fPIC", "-shared", `-DNAPI_VERSION=${napiVersion}`];
  // See `operations/session.cc` and the end of `operations/adam.cc`.
  const renamed = [
    "-DTF_NewSessionOptions=RingmasterNewSessionOptions",
    "-Dnapi_define_properties=RingmasterDefineProperties",
  ];
  const output = ["-o", path.join(staging, "tfjs_binding.node")];
  await run(compiler, [...flags, ...renamed, ...include, ...sources, ...output, ...link], { deadline });
}

module.exports = { buildAgainstWheel };
