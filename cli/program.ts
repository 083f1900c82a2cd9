import { Command } from "commander";
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

/** The whole command line, which nothing has run yet. */
export function createProgram(): Command {
  const program = new Command("ringmaster")
    .description("train, track, evaluate and promote models, on AWS or on this machine")
    .version(version)
    .option("--json", "print one JSON document on stdout")
    .option("--api <url>", "URL of the API (default: RINGMASTER_API_URL, else the local stack's)")
    .option("--team <team>", "team to act for (default: RINGMASTER_TEAM, else your only team)")
    .option("--data <directory>", "data directory of the local stack", ".ringmaster")
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
