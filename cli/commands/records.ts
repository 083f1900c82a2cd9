import type { ApiClient } from "../../client/api-client";
import type { Request } from "../../client/operations";
import type { RunRecord } from "../../core/tracking/shapes";
import type { Command } from "../command";
import type { CliContext } from "../context";
import { tagsOf } from "../tags";

export function addRecordCommands(runs: Command): void {
  runs
    .command("tag <run> <key=value...>")
    .description("set tags of a run")
    .handle((context, runId: string, given: readonly string[]) => change(context, runId, { tags: tagsOf(given) }));

  runs
    .command("untag <run> <key...>")
    .description("remove tags from a run")
    .handle((context, runId: string, keys: readonly string[]) =>
      change(context, runId, { tags: Object.fromEntries(keys.map((key) => [key, null])) }),
    );

  runs
    .command("note <run> <text>")
    .description("replace the notes of a run (Markdown)")
    .handle((context, runId: string, notes: string) => change(context, runId, { notes }));

  runs
    .command("rename <run> <name>")
    .description("rename a run; its id stays the same")
    .handle((context, runId: string, name: string) => change(context, runId, { name }));

  runs
    .command("log-param <run> <key=value...>")
    .description("log params; a param cannot be changed afterwards")
    .handle((context, runId: string, given: readonly string[]) =>
      done(context, ({ call }) => call("logParams", { params: { runId }, body: { params: tagsOf(given) } })),
    );

  runs
    .command("delete <run>")
    .description("mark a run as deleted; its data is kept")
    .handle((context, runId: string) => done(context, ({ call }) => call("deleteRun", { params: { runId } })));

  runs
    .command("undelete <run>")
    .description("restore a deleted run")
    .handle((context, runId: string) => done(context, ({ call }) => call("restoreRun", { params: { runId } })));
}

function change(context: CliContext, runId: string, body: Request<"changeRun">["body"]): Promise<void> {
  return done(context, ({ call }) => call("changeRun", { params: { runId }, body }));
}

async function done(
  { client, print }: CliContext,
  act: (client: ApiClient) => Promise<{ readonly run: RunRecord }>,
): Promise<void> {
  const { run } = await act(client);
  print({ run }, `${run.runId}: revision ${run.revision}${run.lifecycle === "deleted" ? ", deleted" : ""}`);
}
