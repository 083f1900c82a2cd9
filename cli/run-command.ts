import { CommanderError } from "commander";
import { exitCodes, printJson, reportError } from "./output";
import { createProgram } from "./program";

export async function runCommand(argv: readonly string[]): Promise<void> {
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
