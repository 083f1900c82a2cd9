import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { InvalidInputError } from "../../core/errors";
import type { RawRow } from "../../core/features/transform";
import { contextOf } from "../context";
import { artifactOf } from "../model-artifact";
import { formatNumber, printJson } from "../output";
import { openPredictor } from "../predict";
import { predictFile } from "../predict-file";

interface Options {
  readonly file: string;
  readonly out?: string;
}

/** Adds `models predict`, which loads a version in this process and predicts the rows of a file. */
export function addPredictCommand(models: Command): void {
  models
    .command("predict <model>")
    .description(
      "load a version in this process and predict the rows of a file: NAME (the one in production), NAME/3 or NAME@ALIAS",
    )
    .requiredOption(
      "--file <file>",
      "rows of raw columns: a JSON list of objects; with --out also CSV, Parquet or JSON lines",
    )
    .option("--out <file>", "write the predictions to a .csv or .parquet file, in batches")
    .action(async (which: string, { file, out }: Options, command: Command) => {
      const { client, json } = contextOf(command);
      const { model, version, artifact } = await artifactOf(client, which);
      if (out !== undefined) {
        const onRows = (rows: number) => (json ? undefined : process.stderr.write(`\r${rows} rows `));
        const rows = await predictFile(client, artifact, file, out, onRows);
        if (json) printJson({ model, version, rows, out });
        else process.stdout.write(`${out}: predictions of ${rows} rows by ${model} version ${version}\n`);
        return;
      }
      const rows = readRows(file);
      const predictor = await openPredictor(client, artifact);
      const predictions = predictor.predict(rows);
      predictor.dispose();
      if (json) printJson({ model, version, predictions });
      else {
        predictions.forEach((one, i) => {
          const text =
            "value" in one
              ? formatNumber(one.value)
              : `${one.label}  ${formatNumber(Math.max(...one.probabilities.map(({ probability }) => probability)))}`;
          process.stdout.write(`row ${i}: ${text}\n`);
        });
      }
    });
}

function readRows(file: string): readonly RawRow[] {
  const bad = (rule: string, cause?: unknown) =>
    new InvalidInputError("the rows cannot be read", [{ path: "--file", value: file, rule }], cause);
  let rows: unknown;
  try {
    rows = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw bad("must be a JSON file that can be read; for other formats name a file by --out", cause);
  }
  if (Array.isArray(rows) && rows.length > 0 && rows.every((row) => row !== null && typeof row === "object"))
    return rows;
  throw bad("must hold a list of objects, at least one");
}
