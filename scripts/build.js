/**
 * Bundles every entry point with esbuild into `dist/<key>/`, where the key is a digest of the sources' paths, sizes and
 * times. A directory appears by rename, whole or not at all: commands may build at the same time, and a running
 * stack keeps the code that it was started with.
 */
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const sourceFolders = [
  "core",
  "platform",
  "adapters",
  "api",
  "lambdas",
  "trainer-container",
  "local",
  "stack",
  "client",
  "cli",
  "state-machines",
];
/** The number of old builds that are always kept. */
const kept = 4;
/** Native addons and TensorFlow.js keep their files (and their one instance) in node_modules. */
const external = ["@duckdb/*", "classic-level", "@tensorflow/*", "onnxruntime-web", "esbuild", "aws-cdk-lib"];

/** Adds a line for each source below a folder. Each command runs this, so it avoids slower functions of `path`. */
function describeSources(folder, lines) {
  for (const entry of fs.readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules") describeSources(file, lines);
    } else if (/\.(ts|json|yaml)$/.test(entry.name)) {
      const { size, mtimeMs } = fs.statSync(`${root}/${file}`);
      lines.push(`${file}\0${size}\0${mtimeMs}\n`);
    }
  }
  return lines;
}

function sourceKey() {
  const hash = createHash("sha256");
  hash.update(fs.readFileSync(__filename));
  hash.update(fs.readFileSync(path.join(root, "package-lock.json")));
  for (const folder of sourceFolders) hash.update(describeSources(folder, []).sort().join(""));
  return hash.digest("hex").slice(0, 16);
}

/** The entry points of the trainer, in the form of `entryPoints`. Its image has no others. */
const trainerEntryPoints = {
  trainer: "trainer-container/main.ts",
  "define-training": "trainer-container/define-training.ts",
  "checkpoint-upload-worker": "trainer-container/checkpoint/upload-worker.ts",
  "metrics-send-thread": "trainer-container/telemetry/send-thread.ts",
  "prefetch-worker": "trainer-container/data/prefetch-worker.ts",
};

/** Entry points: output name without ending → source file. */
function entryPoints() {
  const entries = {
    cli: "cli/main.ts",
    stack: "stack/main.ts",
    repair: "local/repair-main.ts",
    preload: "local/start/preload.ts",
    "lambda-runtime": "local/lambda/runtime.ts",
    "batch-host": "local/batch/host.ts",
    ...trainerEntryPoints,
  };
  for (const entry of fs.readdirSync(path.join(root, "lambdas"), { withFileTypes: true })) {
    if (entry.isDirectory()) entries[`lambdas/${entry.name}`] = `lambdas/${entry.name}/handler.ts`;
  }
  return entries;
}

/**
 * Modules that the build evaluates. Each exports one function without parameters; the bundles contain a function that returns
 * the value as JSON instead, without the modules that computed it.
 */
const evaluated = { "client/calls.ts": "operationCalls", "api/openapi/text.ts": "openApiText" };

const settings = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  // V8 cannot run `import()` in code that it loads from its cache (`local/start/compiled-code.ts`).
  supported: { "dynamic-import": false },
  // ES modules where a package has them: esbuild drops what is not used of them, and bundles load faster.
  mainFields: ["module", "main"],
  logLevel: "error",
};

const values = new Map();

/** @returns {unknown} the value of the function that a module exports */
function evaluate(module, name) {
  if (!values.has(module)) values.set(module, call(module, name));
  return values.get(module);
}

function call(module, name) {
  const { outputFiles } = require("esbuild").buildSync({ ...settings, entryPoints: [module], write: false, external });
  const bundle = { exports: {} };
  new Function("module", "exports", "require", outputFiles[0].text)(bundle, bundle.exports, require);
  return bundle.exports[name]();
}

const evaluateModules = {
  name: "evaluate-modules",
  setup(build) {
    build.onLoad({ filter: /[\\/](calls|text)\.ts$/ }, ({ path: file }) => {
      const module = path.relative(root, file).split(path.sep).join("/");
      const name = evaluated[module];
      if (name === undefined) return undefined;
      const value = JSON.stringify(evaluate(module, name));
      return { contents: `const value = ${value};\nexport const ${name} = () => value;\n`, loader: "js" };
    });
  },
};

/** zod exports its messages in 50 languages as one object, which esbuild cannot shake. All of ours are English. */
const englishOnly = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/**
 * esbuild copies the namespace of a package that stays outside for each module that imports it. 85 modules of the trainer
 * import TensorFlow.js, with 470 names each, which took a fifth of its start. Its packages have no default export, so that
 * the package itself does as the namespace. Text of the same length keeps the positions of the source maps.
 */
const copiedNamespace = /__toESM(\(require\("@tensorflow\/[\w-]+"\)\))/g;

async function bundle(entries, directory) {
  await require("esbuild").build({
    ...settings,
    entryPoints: entries,
    outdir: directory,
    sourcemap: true,
    sourcesContent: false, // traces need positions only, and every start of a process reads the map
    legalComments: "none",
    external: [...external],
    plugins: [evaluateModules, englishOnly],
  });
  for (const name of fs.readdirSync(path.resolve(root, directory), { recursive: true })) {
    const file = path.resolve(root, directory, name);
    if (!file.endsWith(".js")) continue;
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(copiedNamespace, "       $1"));
  }
}

async function bundleInto(directory) {
  await bundle(entryPoints(), directory);
  fs.writeFileSync(path.join(directory, "openapi.json"), evaluate("api/openapi/text.ts", "openApiText"));
  fs.mkdirSync(path.join(directory, "state-machines"), { recursive: true });
  fs.writeFileSync(
    path.join(directory, "state-machines", "training-run.asl.json"),
    evaluate("state-machines/definition.ts", "stateMachineText"),
  );
  const permissions = evaluate("lambdas/permissions.ts", "functionPermissions");
  fs.writeFileSync(path.join(directory, "permissions.json"), `${JSON.stringify(permissions, undefined, 1)}\n`);
}

/** Builds if the sources have changed since the last build. Returns the directory of the bundles. */
function ensureBuild() {
  const dist = path.join(root, "dist");
  const out = path.join(dist, sourceKey());
  if (fs.existsSync(out)) return out;
  const temporary = `${out}.tmp-${process.pid}`;
  // esbuild runs plugins in its asynchronous interface only; callers need the directory at once.
  require("node:child_process").execFileSync(process.execPath, [__filename, "--into", temporary], { stdio: "inherit" });
  try {
    fs.renameSync(temporary, out);
  } catch (error) {
    fs.rmSync(temporary, { recursive: true, force: true });
    if (!fs.existsSync(out)) throw error; // another process built the same key first
  }
  removeOld(dist, out);
  return out;
}

function removeOld(dist, current) {
  const old = fs
    .readdirSync(dist)
    .filter((name) => !isOfRunningBench(name))
    .map((name) => path.join(dist, name))
    .filter((directory) => directory !== current)
    .map((directory) => ({ directory, time: fs.statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.time - a.time)
    .slice(kept);
  const hourAgo = Date.now() - 3_600_000;
  for (const { directory, time } of old) {
    if (time < hourAgo) fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** A benchmark may run for longer than old builds are kept: its bundles are its own while its process lives. */
function isOfRunningBench(name) {
  const [, pid] = /^bench-(\d+)$/.exec(name) ?? [];
  if (pid === undefined) return false;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

module.exports = { ensureBuild, entryPoints, external, root };
if (require.main === module) {
  const [option, directory] = process.argv.slice(2);
  if (option === "--into") bundleInto(directory);
  // The trainer's image lacks the sources of everything else.
  else if (option === "--trainer") bundle(trainerEntryPoints, directory);
  else process.stdout.write(`${ensureBuild()}\n`);
}
