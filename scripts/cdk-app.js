/**
 * The CDK app, as `cdk.json` runs it: builds the functions' bundles, bundles `infra/app.ts`, and synthesizes. Needs no account, no network
 * and no Docker.
 */
const fs = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");
const { ensureBuild, root } = require("./build");

const bundles = ensureBuild();
// Within the repository, so that it finds its packages; one a process, so that commands may run side by side.
const folder = path.join(root, "node_modules", ".cache", "ringmaster");
const outfile = path.join(folder, `cdk-app-${process.pid}.js`);
try {
  esbuild.buildSync({
    absWorkingDir: root,
    entryPoints: ["infra/app.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    sourcemap: "inline",
    logLevel: "error",
    external: ["aws-cdk-lib", "constructs", "cdk-nag", "esbuild"],
  });
  require(outfile).synthesize(root, bundles);
} catch (error) {
  // A mistake in the configuration is the operator's: its message says all, and a stack would bury it.
  if (error?.name !== "ConfigError") throw error;
  console.error(`\n${error.message}\n`);
  process.exitCode = 1;
} finally {
  fs.rmSync(outfile, { force: true });
}
