import { Command, CommanderError, CommanderError } from "commander";
import { version } from "../package.json";
import { addDatasetCommands } from "./commands/datasets";
import { addExperimentCommands } from "./commands/experiments";
import { addLineageCommand } from "./commands/lineage";
import { addModelCommands } from "./commands/models";
import { addNativeCommand } from "./commands/native";
import { addNotifyCommands } from "./commands/notify";
import { addBrowseCommand, addPageCommands } from "./commands/pages";
import { addRetrainCommands } from "./commands/retrain";
import { addRunCommands } from "./commands/runs";
import { addStackCommands } from "./commands/stack";
import { addSubmitCommand } from "./commands/submit";
import { addTokenCommands } from "./commands/tokens";
import { exitCodes, exitCodes, printJson, printJson, reportError, reportError } from "./output";
import { createProgram } from "./program";

function createProgram(): Command {
  const program = new Command("ringmaster")
    .description("train, track, gate and promote models; on AWS or on this machine")
    .version(version)
    .option("--json", "one JSON document on stdout, for programs")
    .option("--api <url>", "where the API is (default: RINGMASTER_API_URL, else the local stack's)")
    .option("--team <team>", "for which team (default: RINGMASTER_TEAM, else your only one)")
    .option("--data <directory>", "the local stack's data", ".ringmaster")
    .showHelpAfterError("(ringmaster --help lists the commands)")
    .exitOverride();
  addStackCommands(program);
  addNativeCommand(program);
  addDatasetCommands(program);
  addSubmitCommand(program);
  addPageCommands(addRunCommands(program), addExperimentCommands(program));
  addBrowseCommand(program);
  addModelCommands(program);
  addLineageCommand(program);
  addRetrainCommands(program);
  addNotifyCommands(program);
  addTokenCommands(program);
  return program;
}

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...argv], { from: "user" });
  } catch (error) {
    const json = argv.includes("--json");
    if (!(error instanceof CommanderError)) process.exitCode = reportError(error, json);
    else if (error.exitCode !== 0) {
      // Commander has told the person already.
      if (json) printJson({ error: { code: "INVALID_COMMAND", message: error.message.replace(/^error: /, "") } });
      process.exitCode = exitCodes.badInput;
    }
  }
}

// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
});
void main(process.argv.slice(2));
