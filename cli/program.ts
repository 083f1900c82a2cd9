import { type Command as AnyCommand, Help, type Option } from "commander";
import { version } from "../package.json";
import { Command } from "./command";
import { addDatasetCommands } from "./commands/datasets";
import { addDoctorCommand } from "./commands/doctor";
import { addEvaluateCommand } from "./commands/evaluate";
import { addExperimentExportCommand } from "./commands/experiment-export";
import { addExperimentCommands } from "./commands/experiments";
import { addGcCommand } from "./commands/gc";
import { addLineageCommand } from "./commands/lineage";
import { addModelCommands } from "./commands/models";
import { addMonitorCommands } from "./commands/monitors";
import { addNativeCommand } from "./commands/native";
import { addNotifyCommands } from "./commands/notify";
import { addBrowseCommand, addPageCommands } from "./commands/pages";
import { addPipelineCommands } from "./commands/pipelines";
import { addRepairCommand } from "./commands/repair";
import { addRunCommands } from "./commands/runs";
import { addStackCommands } from "./commands/stack";
import { addStudyCommands } from "./commands/studies";
import { addSubmitCommand } from "./commands/submit";
import { addTokenCommands } from "./commands/tokens";
import { addTriggerCommands } from "./commands/triggers";
import { addViewCommands } from "./commands/views";

/** Describes an option. An empty default, such as `[]` of a repeatable option, is not shown. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ ?\(default: (?:\[\]|"")\)$/, "");
}

/** Refers a mistake in a command to its own help, and one in a group such as `models` to that of the group. */
function referToOwnHelp(command: AnyCommand, path = command.name()): void {
  const listed = command.commands.length > 0 ? "commands" : "arguments and options";
  command.showHelpAfterError(`(${path} --help lists the ${listed})`);
  for (const child of command.commands) referToOwnHelp(child, `${path} ${child.name()}`);
}

export function createProgram(): Command {
  const program = new Command("ringmaster")
    .description("train, track, evaluate and promote models, on AWS or on this machine")
    .version(version)
    .option("--json", "print output as one JSON document")
    .option("--api <url>", "URL of the API (default: RINGMASTER_API_URL, else the API of the embedded cloud)")
    .option("--team <team>", "team (default: RINGMASTER_TEAM, else your only team)")
    .option("--data <directory>", "data directory of the embedded cloud", ".ringmaster")
    .configureHelp({ optionDescription })
    .exitOverride();
  addStackCommands(program);
  addRepairCommand(program);
  addGcCommand(program);
  addNativeCommand(program);
  addDoctorCommand(program);
  addDatasetCommands(program);
  addSubmitCommand(program);
  const experiments = addExperimentCommands(program);
  addExperimentExportCommand(experiments);
  addPageCommands(addRunCommands(program), experiments, addStudyCommands(program));
  addBrowseCommand(program);
  addModelCommands(program);
  addEvaluateCommand(program);
  addLineageCommand(program);
  addTriggerCommands(program);
  addPipelineCommands(program);
  addMonitorCommands(program);
  addViewCommands(program);
  addNotifyCommands(program);
  addTokenCommands(program);
  referToOwnHelp(program);
  return program;
}
