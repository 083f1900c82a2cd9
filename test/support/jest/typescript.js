const fs = require("node:fs");
const { transformSync } = require("@swc/core");

const options = {
  jsc: { target: "es2022", parser: { syntax: "typescript" } },
  module: { type: "commonjs" },
  sourceMaps: true,
  swcrc: false,
};

/** Source and result of each compiled file; `map` is a data URL. */
const compiled = new Map();
let registry = new Map();

/** Compiles TypeScript where Node's `require` loads it. */
require.extensions[".ts"] = (module, filename) => {
  const source = fs.readFileSync(filename, "utf8");
  if (compiled.get(filename)?.source !== source) compiled.set(filename, compile(source, filename));
  const { code, map } = compiled.get(filename);
  registry.set(filename, map);
  module._compile(code, filename);
};

function compile(source, filename) {
  const { code, map } = transformSync(source, { ...options, filename });
  return { source, code, map: `data:application/json;base64,${Buffer.from(map).toString("base64")}` };
}

/** Registers the maps of all files compiled so far, and of those to come, in the registry of Jest's stack traces. */
exports.registerSourceMaps = (sourceMaps) => {
  registry = sourceMaps;
  for (const [file, { map }] of compiled) registry.set(file, map);
};
