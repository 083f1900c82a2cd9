/**
 * Writes what is made from the API's contracts: the OpenAPI document and the typed client. `npm run api`, after a contract has changed;
 * `--check` writes nothing and fails where something is not up to date.
 */
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const esbuild = require("esbuild");

const root = path.resolve(__dirname, "..");

/** The files as they should be, formatted, by their paths in the repository. */
function freshFiles() {
  const { outputFiles } = esbuild.buildSync({
    absWorkingDir: root,
    entryPoints: ["client/generator/main.ts"],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    logLevel: "error",
  });
  const bundle = { exports: {} };
  new Function("module", "exports", "require", outputFiles[0].text)(bundle, bundle.exports, require);
  return Object.fromEntries(
    Object.entries(bundle.exports.generatedFiles()).map(([file, text]) => [file, formatted(file, text)]),
  );
}

function formatted(file, text) {
  const biome = path.join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
  return execFileSync(process.execPath, [biome, "check", "--write", `--stdin-file-path=${file}`], {
    cwd: root,
    input: text,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** Paths of files that are not as they should be, those that should not be among them. */
function staleFiles(fresh = freshFiles()) {
  const generated = fs
    .readdirSync(path.join(root, "client", "generated"), { recursive: true })
    .map((name) => `client/generated/${name.split(path.sep).join("/")}`)
    .filter((file) => file.endsWith(".ts"));
  return [...new Set([...Object.keys(fresh), ...generated])].filter((file) => {
    const full = path.join(root, file);
    return !fs.existsSync(full) || fs.readFileSync(full, "utf8") !== fresh[file];
  });
}

module.exports = { staleFiles };
if (require.main === module) {
  const fresh = freshFiles();
  const stale = staleFiles(fresh);
  const check = process.argv.includes("--check");
  for (const file of stale) {
    const full = path.join(root, file);
    if (!check && file in fresh) {
      fs.mkdirSync(path.dirname(full), { recursive: true });
      fs.writeFileSync(full, fresh[file]);
    } else if (!check) fs.rmSync(full);
    process.stdout.write(
      `${file} ${check ? "is not up to date: npm run api" : file in fresh ? "written" : "removed"}\n`,
    );
  }
  process.exitCode = check && stale.length > 0 ? 1 : 0;
}
