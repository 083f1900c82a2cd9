/** Runs lint, types and the build at once, because each of them waits for the disk or leaves a core idle. */
const { spawn } = require("node:child_process");
const { root } = require("./build.js");

/** Runs a script of package.json and prints what it wrote once it has ended, so that outputs do not mix. */
async function check(script) {
  const start = Date.now();
  const child = spawn("npm", ["run", "--silent", script], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
  const status = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  process.stdout.write(Buffer.concat(output));
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(`${script}: ${status === 0 ? "passed" : "failed"} after ${seconds} s`);
  return status === 0;
}

Promise.all(["types", "lint", "build"].map(check)).then((passed) => {
  process.exitCode = passed.every(Boolean) ? 0 : 1;
});
