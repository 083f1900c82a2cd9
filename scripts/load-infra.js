const fs = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");
const { root } = require("./build");

/** Bundles a TypeScript file of `infra/`, gives what it exports to `use`, and leaves nothing behind. */
function withInfra(entryPoint, use) {
  // The bundle is within the repository, where it finds its packages. Each process has its own, because commands may run
  // at the same time.
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
    // The operator made a mistake in the configuration. The message says all, and a stack trace would hide it.
    if (error?.name !== "ConfigError") throw error;
    console.error(`\n${error.message}\n`);
    process.exitCode = 1;
  } finally {
    fs.rmSync(outfile, { force: true });
  }
}

module.exports = { withInfra };
