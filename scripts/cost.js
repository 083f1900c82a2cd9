/** `npm run cost`: what the platform costs while nothing happens, or what a run costs. `--help` says more. */
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { ensureBuild, root } = require("./build");
const { withInfra } = require("./load-infra");

const bundles = ensureBuild();
const outdir = fs.mkdtempSync(path.join(os.tmpdir(), "ringmaster-cost-"));
try {
  withInfra("infra/cost/main.ts", ({ printCost }) => printCost(process.argv.slice(2), root, bundles, outdir));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  fs.rmSync(outdir, { recursive: true, force: true });
}
