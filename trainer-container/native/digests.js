/** The digests of everything that the native installer downloads, and the check against them. */
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { pipeline } = require("node:stream/promises");

/**
 * TensorFlow's wheels on PyPI: file → SHA-256. Only the library inside is used, so one version of Python serves every
 * machine. `tensorflow-cpu` is published for Linux on x64 only.
 */
const wheels = {
  version: "2.21.0",
  python: "3.12",
  sha256: {
    "tensorflow-2.21.0-cp312-cp312-macosx_12_0_arm64.whl":
      "56ecd7d47429acbe1df2694d50b75bf9fc3995ac92cb367cd9af6c4780ead712",
    "tensorflow-2.21.0-cp312-cp312-manylinux_2_27_aarch64.whl":
      "b07d15737406533898e36c7ef7944b1be18e9028dc521b9229952c537bbc5552",
    "tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl":
      "b3b95643c4e70eb925839938fb35cbe142f317ec84af6844ee61513713bb13c0",
    "tensorflow_cpu-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl":
      "dcc8afd32930e42d5296b6ee19078b773706830af4ea97fbe503b9f5e0f820cb",
  },
};

/** Node-API is stable, so the headers of any version serve. */
const headers = {
  package: "node-api-headers",
  version: "1.9.0",
  sha512:
    "da83482cfe235f0441e32c2760a8d593563227dea7d83e0439524ee92de8619e4fb5b26bc3762df53a40b97de704b32ece7ef8ae77c642bbf5de94bdbc2f9888",
};

/** @throws Error that names the file, its digest and the expected one. */
async function verifyFile(file, algorithm, expected) {
  const name = path.basename(file);
  if (expected === undefined) throw new Error(`${name} has no pinned digest in trainer-container/native/digests.js`);
  const found = await digestOf(file, algorithm);
  if (found !== expected) throw new Error(`${name} has the ${algorithm} ${found}, expected is ${expected}`);
}

async function digestOf(file, algorithm) {
  const hash = createHash(algorithm);
  await pipeline(fs.createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

/** @returns {Promise<Record<string, string>>} name → SHA-256 of each file that lies directly in a folder. */
async function digestsIn(folder) {
  const digests = {};
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile()) digests[entry.name] = await digestOf(path.join(folder, entry.name), "sha256");
  return digests;
}

module.exports = { digestsIn, headers, verifyFile, wheels };
