const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { run } = require("./run");

/** Node-API is stable, so any version's headers do. */
const headersPackage = "node-api-headers@1.9.0";

/** The folder with `node_api.h`: beside this Node, where npm was told, node-gyp's cache, else from npm. */
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
    await run("npm", ["pack", headersPackage, "--silent", "--pack-destination", staging], { deadline });
    const archive = fs
      .readdirSync(staging)
      .find((name) => name.startsWith("node-api-headers") && name.endsWith(".tgz"));
    await run("tar", ["-xzf", path.join(staging, archive), "-C", staging], { deadline });
    return path.join(staging, "package", "include");
  } catch (error) {
    throw new Error(`no headers of Node (${error.message})`);
  }
}

module.exports = { nodeHeaders };
