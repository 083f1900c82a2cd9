const fs = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");
const { root } = require("./build");

/** Bundles a TypeScript file of `infra/`, gives what it exports to `use`, and leaves nothing behind. */
function withInfra(entryPoint, use) {
  // Within the repository, so that it finds its packages; one a process, so that commands may run side by side.
  const folder = path.join(root, "node_modules", ".cache", "ringmaster");
  const outfile = path.join(folder, `${path.basename(entryPoint, ".ts")}-${process.pid}.js`);
  try {
    esbuild.buildSync({
      absWorkingDir: root,
      entryPoints: [entryPoint],
      outfile,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      sourcemap: "inline",
      logLevel: "error",
      external: ["aws-cdk-lib", "constructs", "cdk-nag", "esbuild"],
    });
    use(require(outfile));
  } catch (error) {
    // A mistake in the configuration is the operator's: its message says all, and a stack would bury it.
    if (error?.name !== "ConfigError") throw error;
    console.error(`\n${error.message}\n`);
    process.exitCode = 1;
  } finally {
    fs.rmSync(outfile, { force: true });
  }
}

module.exports = { withInfra };
