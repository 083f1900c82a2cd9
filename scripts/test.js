/**
 * Runs the tests: `node scripts/test.js` all that Node.js and npm alone can run, `node scripts/test.js rest` the others,
 * `node scripts/test.js FOLDER` those below `test/FOLDER`.
 */
const { spawnSync } = require("node:child_process");
const { availableParallelism, totalmem } = require("node:os");
const { root, ensureBuild } = require("./build.js");

/** Patterns of the tests that take long without being a user's journey, or need tools that npm does not install. */
const rest = [
  "test/docs/commands",
  "test/peers/(?!handlers|mlflow/recorded)",
  "test/bench/gpu-check",
  "test/trainer/process/memory",
];
/** Patterns of the tests that start stacks and trainers. */
const processes = ["test/e2e/", "test/trainer/process/", "test/cli/doctor/doctor"];
/**
 * Such tests wait for processes and clocks half of their time, so more files run at once than there are cores. A worker
 * takes up to 1.3 GiB, and the stacks that it starts another. More workers than cores slow all other tests.
 */
const processWorkers = Math.max(availableParallelism(), Math.min(3, Math.floor(totalmem() / 2 ** 30 / 3)));

/** @returns whether all tests passed */
function jest(...options) {
  const jestFile = require.resolve("jest/bin/jest");
  const { status } = spawnSync(process.execPath, ["--max-semi-space-size=64", jestFile, ...options], {
    cwd: root,
    stdio: "inherit",
    // Every Node.js process that a test starts would parse its certificates.
    env: { ...process.env, NODE_EXTRA_CA_CERTS: "" },
  });
  return status === 0;
}

const without = (...patterns) => ["--testPathIgnorePatterns", "/node_modules/", ...patterns];

function all() {
  ensureBuild();
  const passed = [
    jest("--maxWorkers", String(processWorkers), ...without(...rest), "--", ...processes),
    jest(...without(...rest, ...processes)),
  ];
  if (passed.includes(false)) return false;
  return spawnSync(process.execPath, [require.resolve("./check-grants.js")], { stdio: "inherit" }).status === 0;
}

module.exports = { rest };
if (require.main === module) {
  const [, , what] = process.argv;
  const passed = what === undefined ? all() : jest(...(what === "rest" ? rest : [`test/${what}/`]));
  process.exitCode = passed ? 0 : 1;
}
