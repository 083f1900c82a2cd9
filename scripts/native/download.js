const fs = require("node:fs");
const path = require("node:path");
const { napiVersion, packageFolder } = require("./location");
const { run } = require("./run");

/**
 * The package's own installer, run on a copy of the package: TensorFlow's C library and, where published, the built binding.
 *
 * @returns {Promise<string>} the binding's path within `staging`.
 */
async function downloadPublished(staging, library, deadline) {
  fs.cpSync(packageFolder, staging, {
    recursive: true,
    filter: (source) => !source.slice(packageFolder.length).includes("node_modules"),
  });
  // Its dependencies lie in any of the folders in which this file would find them.
  const folders = module.paths;
  const env = {
    ...process.env,
    NODE_PATH: folders.join(path.delimiter),
    PATH: [...folders.map((folder) => path.join(folder, ".bin")), process.env.PATH].join(path.delimiter),
  };
  await run(process.execPath, ["scripts/install.js", library, "download"], { cwd: staging, deadline, env });
  const binding = path.join("lib", `napi-v${napiVersion}`, "tfjs_binding.node");
  if (!fs.existsSync(path.join(staging, binding))) throw new Error("its installer left no binding");
  for (const name of fs.readdirSync(staging)) {
    if (name !== "lib" && name !== "deps") fs.rmSync(path.join(staging, name), { recursive: true, force: true });
  }
  return binding;
}

module.exports = { downloadPublished };
