import type { Command } from "commander";
import { RingmasterError } from "../../core/errors";
import { formatBytes } from "../../core/quantities";
import type { CycleState, Phase } from "../../core/reclamation/ports";
import { functionNameIn } from "../../platform/functions";
import type { GlobalOptions } from "../context";
import { printJson, printTable } from "../output";
import { embeddedPrefix, ownerConnection, usageText } from "../storage";

interface GcOptions extends GlobalOptions {
  readonly dryRun?: boolean;
}

/** Work of one invocation, after which the progress is shown. */
const secondsEach = 5;

const progress: Readonly<Record<Phase, string>> = {
  rows: "reading the rows of the Catalog",
  documents: "reading documents",
  contents: "reading contents",
  sweep: "listing objects",
  done: "done",
};

export function addGcCommand(program: Command): void {
  program
    .command("gc")
    .description("delete content of the embedded cloud that nothing refers to any more; the stack must be running")
    .option("--dry-run", "show what would be deleted, and what each team stores; delete nothing")
    .action((_options: unknown, command: Command) => collect(command.optsWithGlobals<GcOptions>()));
}

async function collect({ data, json, dryRun = false }: GcOptions): Promise<void> {
  const connection = await ownerConnection(data);
  const { InvokeCommand, LambdaClient } = await import("@aws-sdk/client-lambda");
  const lambda = new LambdaClient(connection);
  const invoke = async (begin: boolean): Promise<CycleState> => {
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({
        FunctionName: functionNameIn(embeddedPrefix, "reclaim-storage"),
        Payload: JSON.stringify({ command: { dryRun, seconds: secondsEach, begin } }),
      }),
    );
    const answer = JSON.parse(Payload?.transformToString() ?? "null") as CycleState & {
      readonly errorMessage?: string;
    };
    if (FunctionError === undefined) return answer;
    throw new RingmasterError(`the storage was not cleaned: ${answer.errorMessage}`, {
      code: "RECLAMATION_FAILED",
      httpStatus: 500,
    });
  };
  let state = await invoke(true);
  while (state.phase !== "done") {
    if (!json) process.stderr.write(`${progress[state.phase]}\n`);
    state = await invoke(false);
  }
  lambda.destroy();
  const { cycle, teams, deleted, unreferenced } = state;
  if (json) return printJson({ dryRun, cycle, teams, deleted, unreferenced });
  printTable(
    ["team", "objects", "stored"],
    Object.entries(teams).map(([team, { objects, bytes }]) => [team, objects, formatBytes(bytes)]),
  );
  if (!dryRun) process.stdout.write(`deleted: ${usageText(deleted)}\n`);
  const consequence = dryRun ? "would be deleted by the second of two cycles" : "the next cycle deletes them";
  process.stdout.write(`without a reference and older than two days: ${usageText(unreferenced)}; ${consequence}\n`);
}
