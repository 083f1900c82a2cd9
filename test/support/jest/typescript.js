const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { transformSync, version } = require("@swc/core");

const options = {
  jsc: { target: "es2022", parser: { syntax: "typescript" } },
  module: { type: "commonjs" },
  sourceMaps: true,
  swcrc: false,
};

/** Compiled files, which all workers and later runs share. */
const folder = path.resolve(__dirname, "../../../node_modules/.cache/ringmaster-tests");
fs.mkdirSync(folder, { recursive: true });

/** Source, compiled code and path of the source map of each file. */
const compiled = new Map();
let registry = new Map();

/** Compiles TypeScript where Node's `require` loads it. */
require.extensions[".ts"] = (module, filename) => {
  const source = fs.readFileSync(filename, "utf8");
  if (compiled.get(filename)?.source !== source) compiled.set(filename, { source, ...compile(source, filename) });
  const { code, map } = compiled.get(filename);
  registry.set(filename, map);
  module._compile(code, filename);
};

function compile(source, filename) {
  const key = createHash("sha256")
    .update([version, JSON.stringify(options), filename, source].join("\0"))
    .digest("hex");
  const [file, map] = [path.join(folder, `${key}.js`), path.join(folder, `${key}.map`)];
  try {
    return { code: fs.readFileSync(file, "utf8"), map };
  } catch {
    const result = transformSync(source, { ...options, filename });
    write(map, result.map);
    write(file, result.code);
    return { code: result.code, map };
  }
}

/** Workers may write the same file at once. */
function write(file, text) {
  const temporary = `${file}.${process.pid}`;
  fs.writeFileSync(temporary, text);
  fs.renameSync(temporary, file);
}

/** Registers the maps of all files compiled so far, and of those to come, in the registry of Jest's stack traces. */
exports.registerSourceMaps = (sourceMaps) => {
  registry = sourceMaps;
  for (const [file, { map }] of compiled) registry.set(file, map);
};
