import { CommanderError } from "commander";
import { exitCodes, printJson, reportError } from "./output";
import { createProgram } from "./program";

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...argv], { from: "user" });
  } catch (error) {
    const json = argv.includes("--json");
    if (!(error instanceof CommanderError)) process.exitCode = reportError(error, json);
    else if (error.exitCode !== 0) {
      // Commander has already printed the message.
      if (json) printJson({ error: { code: "INVALID_COMMAND", message: error.message.replace(/^error: /, "") } });
      process.exitCode = exitCodes.badInput;
    }
  }
}

// A closed reader (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
});
void main(process.argv.slice(2));
