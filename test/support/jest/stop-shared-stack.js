const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { ensureBuild } = require("../../../scripts/build.js");

/** Stops the stack that end-to-end tests share, and removes its data. */
module.exports = () => {
  const data = process.env.RINGMASTER_SHARED_STACK;
  if (!fs.existsSync(data)) return;
  execFileSync(process.execPath, [path.join(ensureBuild(), "cli.js"), "--data", data, "down"]);
  fs.rmSync(data, { recursive: true, force: true, maxRetries: 5 });
};
