import { loggedRow, maxServedRows } from "../../core/drift/served-batch";
import { inParts } from "../../core/each-limited";
import type { Command } from "../command";
import { readLines } from "../json-lines";
import { artifactOf } from "../model-artifact";
import { printJson, printTable } from "../output";
import { servedBatches } from "../served-rows";

/** Adds `models served`, which logs the rows that a version has served, or lists what is logged. */
export function addServedCommand(models: Command): void {
  models
    .command("served <model>")
    .description("log rows that a version has served, idempotently; without --file list them: NAME, NAME@3, NAME@ALIAS")
    .option("--file <file>", "JSON lines or a list of {unit, at, row, prediction, label}; label if it is known")
    .handle(async ({ client, json, print }, which: string, { file }: { file?: string }) => {
      const { model: name, version } = await artifactOf(client, which);
      if (file === undefined) {
        const batches = await servedBatches(client, name, version);
        if (json) printJson({ model: name, version, batches });
        else {
          printTable(
            ["BATCH", "ROWS", "FROM", "TO", "RECEIVED"],
            batches.map(({ sequence, rows, from, to, receivedAt }) => [sequence, rows, from, to, receivedAt]),
          );
        }
        return;
      }
      const rows = readLines(file, loggedRow);
      let [stored, known] = [0, 0];
      for (const some of inParts(rows, maxServedRows)) {
        const answer = await client.call("logServedRows", { params: { name }, body: { version, rows: some } });
        if (answer.repeated) known += answer.stored;
        else stored += answer.stored;
      }
      print(
        { model: name, version, rows: rows.length, stored, known },
        `${name}/${version}: ${stored} of ${rows.length} rows stored, ${known} already stored`,
      );
    });
}
