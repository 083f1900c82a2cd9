const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { headers, verifyFile } = require("./digests");
const { run } = require("./run");

/** The folder with `node_api.h`: next to this Node, npm's `nodedir`, node-gyp's cache, else from npm. */
async function nodeHeaders(staging, deadline) {
  const version = process.versions.node;
  const candidates = [
    path.resolve(path.dirname(fs.realpathSync(process.execPath)), "../include/node"),
    process.env.npm_config_nodedir && path.join(process.env.npm_config_nodedir, "include/node"),
    "/usr/include/node",
    "/usr/local/include/node",
    path.join(os.homedir(), ".cache/node-gyp", version, "include/node"),
    path.join(os.homedir(), "Library/Caches/node-gyp", version, "include/node"),
  ];
  const found = candidates.find((folder) => folder && fs.existsSync(path.join(folder, "node_api.h")));
  return found ?? fetchHeaders(staging, deadline);
}

async function fetchHeaders(staging, deadline) {
  try {
    const spec = `${headers.package}@${headers.version}`;
    await run("npm", ["pack", spec, "--silent", "--pack-destination", staging], { deadline });
    const archive = path.join(staging, `${headers.package}-${headers.version}.tgz`);
    await verifyFile(archive, "sha512", headers.sha512);
    await run("tar", ["-xzf", archive, "-C", staging], { deadline });
    return path.join(staging, "package", "include");
  } catch (error) {
    throw new Error(`no headers of Node (${error.message})`);
  }
}

module.exports = { fetchHeaders, nodeHeaders };
