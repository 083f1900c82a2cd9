#!/usr/bin/env node
/**
 * Makes an npm package of the command line, the stack, the trainer and the types of user modules:
 *
 *     node scripts/pack.js [--out DIRECTORY]
 *
 * writes `ringmaster-<version>.tgz` and prints its path. The package holds the built bundles, and in `dist/sbom` the
 * software bill of materials. Its dependencies are the packages that the bundles leave outside, in the lockfile's versions.
 */
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const { builtinModules } = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { parseArgs } = require("node:util");
const { ensureBuild, external, root } = require("./build.js");
const { writeBill } = require("./sbom.js");

/**
 * The package holds its own copy, without the install script, which would download 400 MB of CUDA libraries.
 * `ringmaster native` gets the library that the machine needs.
 */
const nativePackage = "@tensorflow/tfjs-node-gpu";
const typesEntry = "trainer-container/define-training";

/** @returns {string} the tarball's path */
function pack(outDirectory) {
  const stage = fs.mkdtempSync(path.join(os.tmpdir(), "ringmaster-pack-"));
  try {
    const bundles = path.join(stage, "dist", "bundles");
    fs.cpSync(ensureBuild(), bundles, { recursive: true, filter: (source) => !/\.map$|[\\/]compiled$/.test(source) });
    fs.cpSync(path.join(root, "trainer-container", "native"), path.join(bundles, "native"), { recursive: true });
    copyNativePackage(path.join(stage, "dist", "node_modules", nativePackage));
    emitTypes(path.join(stage, "dist", "types"));
    writeBill(path.join(stage, "dist", "sbom"));
    writeBin(path.join(stage, "bin"));
    fs.writeFileSync(path.join(stage, "package.json"), JSON.stringify(manifestOf(bundles), null, 2));
    fs.mkdirSync(outDirectory, { recursive: true });
    const args = ["pack", "--json", "--loglevel=error", "--pack-destination", path.resolve(outDirectory)];
    const packed = JSON.parse(execFileSync("npm", args, { cwd: stage, encoding: "utf8" }));
    return path.resolve(outDirectory, packed[0].filename);
  } finally {
    fs.rmSync(stage, { recursive: true, force: true });
  }
}

function manifestOf(bundles) {
  const { name, version, description, license, engines } = readJson(path.join(root, "package.json"));
  const types = `./dist/types/${typesEntry}.d.ts`;
  const main = "./dist/bundles/define-training.js";
  return {
    name,
    version,
    description,
    license,
    engines,
    bin: { ringmaster: "bin/ringmaster.js" },
    main,
    types,
    exports: { ".": { types, default: main }, "./package.json": "./package.json" },
    files: ["bin", "dist"],
    dependencies: dependenciesOf(bundles),
  };
}

/** The packages that the bundles require, and those of the native package: name → the lockfile's version. */
function dependenciesOf(bundles) {
  const { packages } = readJson(path.join(root, "package-lock.json"));
  const lockedIn = (name) => packages[`node_modules/${name}`];
  const required = scriptsBelow(bundles)
    .flatMap((file) => [...fs.readFileSync(file, "utf8").matchAll(/\brequire(?:\.resolve)?\("([^"./][^"]*)"\)/g)])
    .map(([, request]) => packageOf(request))
    .filter((name) => isExternal(name) && name !== nativePackage);
  const names = new Set([...required, ...Object.keys(lockedIn(nativePackage).dependencies)]);
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const locked = lockedIn(name);
      if (!locked)
        throw new Error(`a bundle requires ${name}, which package-lock.json does not have: npm install ${name}`);
      return [name, locked.version];
    }),
  );
}

function packageOf(request) {
  return request.split("/", request.startsWith("@") ? 2 : 1).join("/");
}

/** Returns whether the build leaves a package outside. Others are bundled, or optional and absent. */
function isExternal(name) {
  if (builtinModules.includes(name)) return false;
  return external.some((pattern) =>
    pattern.endsWith("/*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

function scriptsBelow(folder) {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".js"))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/** Copies the native package without its scripts, which would download unverified files during installation. */
function copyNativePackage(target) {
  const source = path.join(root, "node_modules", nativePackage);
  const kept = ["binding", "dist", "LICENSE", "README.md"];
  for (const name of kept.filter((each) => fs.existsSync(path.join(source, each)))) {
    fs.cpSync(path.join(source, name), path.join(target, name), {
      recursive: true,
      filter: (file) => !file.endsWith(".map") && !file.endsWith(".d.ts"),
    });
  }
  const {
    scripts: _scripts,
    gypfile: _gypfile,
    devDependencies: _development,
    ...manifest
  } = readJson(path.join(source, "package.json"));
  fs.writeFileSync(path.join(target, "package.json"), JSON.stringify(manifest, null, 2));
}

/** Declarations of what user modules import as `ringmaster`, with the files that they refer to. */
function emitTypes(outDirectory) {
  const options = "--declaration --emitDeclarationOnly --target es2023 --module esnext --moduleResolution bundler";
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(
    process.execPath,
    [
      tsc,
      "--ignoreConfig",
      ...options.split(" "),
      ...["--strict", "--skipLibCheck", "--types", "node", "--rootDir", root, "--outDir", outDirectory],
      path.join(root, `${typesEntry}.ts`),
    ],
    { cwd: root, stdio: ["ignore", process.stderr, "inherit"] },
  );
}

function writeBin(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const script = '#!/usr/bin/env node\nrequire("../dist/bundles/preload.js");\nrequire("../dist/bundles/cli.js");\n';
  fs.writeFileSync(path.join(folder, "ringmaster.js"), script, { mode: 0o755 });
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

module.exports = { pack };
if (require.main === module) {
  const { values } = parseArgs({ options: { out: { type: "string", default: root } } });
  process.stdout.write(`${pack(values.out)}\n`);
}
