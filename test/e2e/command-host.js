/**
 * Runs commands of the built command line one after the other in this process, which saves the start of a process for each.
 * The parent sends `{ args, environment }`. After a command, both streams get a line of NUL, the exit code and NUL.
 */
const [cli] = process.argv.slice(2);

/** The bundle runs a command when it is loaded: here, one without effects. */
function load() {
  const { write } = process.stdout;
  process.argv.splice(2, Infinity, "--version");
  process.stdout.write = () => true;
  const { runCommand } = require(cli);
  return new Promise((resolve) =>
    setImmediate(() => {
      process.stdout.write = write;
      resolve(runCommand);
    }),
  );
}

const runCommand = load();

process.on("message", async ({ args, environment }) => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.exitCode = undefined;
  await (await runCommand)(args);
  const end = `\0${process.exitCode ?? 0}\0`;
  process.stdout.write(end);
  process.stderr.write(end);
});
process.on("disconnect", () => process.exit());
