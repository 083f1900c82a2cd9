/**
 * Runs lint, types and the build at once, because each of them waits for the disk or leaves a core idle. The tests
 * begin when lint and build have passed; the types are checked in one process, which then still runs.
 */
const { spawn } = require("node:child_process");
const { root } = require("./build.js");

/** Runs a script of package.json. Writes what it wrote once it has ended, so that outputs do not mix. */
async function check(script, stdio = ["ignore", "pipe", "pipe"]) {
  const start = Date.now();
  const child = spawn("npm", ["run", "--silent", script], { cwd: root, stdio });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(chunk));
  const status = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  process.stdout.write(Buffer.concat(output));
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(`${script}: ${status === 0 ? "passed" : "failed"} after ${seconds} s`);
  return { script, passed: status === 0 };
}

async function verify() {
  const types = check("types");
  const first = await Promise.all(["lint", "build"].map((script) => check(script)));
  const tests = first.every(({ passed }) => passed) ? [await check("test", "inherit")] : [];
  const failed = [...first, ...tests, await types].filter(({ passed }) => !passed);
  if (failed.length > 0) console.log(`failed: ${failed.map(({ script }) => script).join(", ")}`);
  return failed.length === 0;
}

verify().then((passed) => {
  process.exitCode = passed ? 0 : 1;
});
