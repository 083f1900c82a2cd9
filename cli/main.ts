import { runCommand } from "./run-command";

// A closed reader (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
});
void runCommand(process.argv.slice(2));

export { runCommand };
