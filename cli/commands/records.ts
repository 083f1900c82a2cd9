import type { Command } from "commander";
import type { ApiClient } from "../../client/api-client";
import type { RunRecord } from "../../core/tracking/shapes";

import { contextOf } from "../context";
import { printJson } from "../output";
import { tagsOf } from "../tags";

/**
 * Adds the commands that change a run's record: `runs tag`, `untag`, `note`, `rename`, `log-param`, `delete`,
 * `undelete`.
 */
export function addRecordCommands(runs: Command): void {
  runs
    .command("tag <run> <key=value...>")
    .description("set tags of a run")
    .action((runId: string, given: readonly string[], _options: unknown, command: Command) =>
      change(runId, { tags: tagsOf(given) }, command),
    );

  runs
    .command("untag <run> <key...>")
    .description("remove tags from a run")
    .action((runId: string, keys: readonly string[], _options: unknown, command: Command) =>
      change(runId, { tags: Object.fromEntries(keys.map((key) => [key, null])) }, command),
    );

  runs
    .command("note <run> <text>")
    .description("replace the notes of a run (Markdown)")
    .action((runId: string, notes: string, _options: unknown, command: Command) => change(runId, { notes }, command));

  runs
    .command("rename <run> <name>")
    .description("rename a run; its id stays the same")
    .action((runId: string, name: string, _options: unknown, command: Command) => change(runId, { name }, command));

  runs
    .command("log-param <run> <key=value...>")
    .description("log params; a param cannot be changed afterwards")
    .action((runId: string, given: readonly string[], _options: unknown, command: Command) =>
      done(command, async (client) => {
        const body = { params: tagsOf(given) };
        return (await client.call("logParams", { params: { runId }, body })).run;
      }),
    );

  runs
    .command("delete <run>")
    .description("mark a run as deleted; its data is kept")
    .action((runId: string, _options: unknown, command: Command) =>
      done(command, async (client) => (await client.call("deleteRun", { params: { runId } })).run),
    );

  runs
    .command("undelete <run>")
    .description("restore a deleted run")
    .action((runId: string, _options: unknown, command: Command) =>
      done(command, async (client) => (await client.call("restoreRun", { params: { runId } })).run),
    );
}

function change(
  runId: string,
  body: { readonly name?: string; readonly notes?: string; readonly tags?: Record<string, string | null> },
  command: Command,
): Promise<void> {
  return done(command, async (client) => (await client.call("changeRun", { params: { runId }, body })).run);
}

async function done(command: Command, act: (client: ApiClient) => Promise<RunRecord>): Promise<void> {
  const { client, json } = contextOf(command);
  const run = await act(client);
  if (json) printJson({ run });
  else
    process.stdout.write(`${run.runId}: revision ${run.revision}${run.lifecycle === "deleted" ? ", deleted" : ""}\n`);
}
