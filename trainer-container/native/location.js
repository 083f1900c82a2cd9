/**
 * Locates the native binding. It lies in a cache folder of the user, outside `node_modules`, because `npm ci` would remove
 * what took a 270 MB download. `trainer-container/engine/native-binding.ts` looks in the same place.
 */
const os = require("node:os");
const path = require("node:path");

const packageFolder = path.dirname(require.resolve("@tensorflow/tfjs-node-gpu/package.json"));

/** Node-API 8 is stable from Node 12.22 on: one build serves every version this project runs on. */
const napiVersion = 8;

/** Number of the binding's build, increased when a file of `operations/` or the compiler's options change. */
const build = 6;

/** @param {"cpu" | "gpu"} library */
function nativeFolder(library, environment = process.env) {
  const { version } = require("@tensorflow/tfjs-node-gpu/package.json");
  const cache = environment.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  const root = environment.RINGMASTER_NATIVE_DIR || path.join(cache, "ringmaster", "native");
  return path.join(root, `${version}-${build}-${library}-${process.platform}-${process.arch}`);
}

module.exports = { nativeFolder, napiVersion, packageFolder };
