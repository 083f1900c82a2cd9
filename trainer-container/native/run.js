const { spawn } = require("node:child_process");

/**
 * Runs a command to its end, killing its whole process group at the deadline.
 *
 * @returns {Promise<string>} what it wrote to stdout.
 * @throws Error with the last lines of its output, or that the time was up.
 */
function run(command, args, { deadline, cwd, env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    let timedOut = false;
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr = (stderr + chunk).slice(-8192);
    });
    const timer = setTimeout(
      () => {
        timedOut = true;
        try {
          process.kill(-child.pid, "SIGKILL");
        } catch {
          // it ended in the meantime
        }
      },
      Math.max(0, deadline - Date.now()),
    );
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`${command} could not be run (${error.code ?? error.message})`));
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (timedOut) reject(new Error(`${command} did not finish in its time`));
      else if (code === 0) resolve(stdout);
      else reject(new Error(summary(stderr) || summary(stdout) || `${command} exited with ${code}`));
    });
  });
}

/** Returns the most informative line of an output: the first one with an error, else the last one. */
function summary(output) {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith("at ") && !/^Node\.js v/.test(line));
  return (lines.find((line) => /error:/i.test(line)) ?? lines.at(-1) ?? "").slice(0, 200);
}

module.exports = { run };
