import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoteName, quoteText } from "../../adapters/duckdb/session";
import { fetchAllShards } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { type DatasetManifest, splitNames } from "../../core/datasets/shapes";
import { readSplits } from "../../core/datasets/split-index";
import type { LabelEncoding } from "../../core/features/shapes";
import type { ObjectStore } from "../../core/ports";
import { encodeSafetensors } from "../../core/safetensors";
import { TrainingHaltedError } from "../loop/errors";

/** Writes the splits of a dataset version as `<folder>/<split>/data.<format>`, in the order of their rows. */
export async function writeChannels(
  objects: ObjectStore,
  manifest: DatasetManifest,
  folder: string,
  format: "csv" | "parquet",
): Promise<void> {
  const splits = await readSplits(manifest, objects);
  await withDuckDb(async (session) => {
    const shards = await fetchAllShards(session, objects, manifest);
    const index = join(session.directory, "splits.csv");
    writeFileSync(index, splits.join("\n"));
    const columns = manifest.schema.map(({ name }) => quoteName(name)).join(", ");
    const rows = `read_parquet([${shards.map(quoteText).join(", ")}])`;
    const codes = `read_csv(${quoteText(index)}, header = false, columns = {'split#': 'UTINYINT'})`;
    for (const [code, split] of splitNames.entries()) {
      const file = join(folder, split, `data.${format}`);
      mkdirSync(join(folder, split), { recursive: true });
      const options = format === "csv" ? "FORMAT csv, HEADER" : "FORMAT parquet";
      await session.run(
        `COPY (SELECT ${columns} FROM ${rows} POSITIONAL JOIN ${codes} WHERE "split#" = ${code}) TO ${quoteText(file)} (${options})`,
      );
    }
  });
}

/** A probability of each class adds up to 1 within this. */
const tolerance = 1e-3;

/**
 * Reads the command's predictions of the test split as `outputs`, in row order: `predictions.csv` or `.parquet` with the
 * column `row`, from 0, and a probability for each class, named by it, or `value`.
 * @throws TrainingHaltedError `BAD_PREDICTIONS`
 */
export async function readPredictions(folder: string, label: LabelEncoding, rows: number): Promise<Uint8Array> {
  const names = label.kind === "class" ? label.classes.map(String) : ["value"];
  const refuse = (what: string): never => {
    const rule = `the command must write predictions.csv or predictions.parquet into $SM_OUTPUT_DATA_DIR, with the columns row, ${names.join(", ")} and one row for each of the ${rows} test rows`;
    throw new TrainingHaltedError("BAD_PREDICTIONS", `${what}: ${rule} (docs/containers.md)`);
  };
  const file = ["csv", "parquet"].map((format) => join(folder, `predictions.${format}`)).find(existsSync);
  if (file === undefined) return refuse("there are no predictions");
  const source = file.endsWith("csv")
    ? `read_csv(${quoteText(file)}, header = true, all_varchar = true)`
    : `read_parquet(${quoteText(file)})`;
  const values = ["row", ...names].map((name, at) => `TRY_CAST(${quoteName(name)} AS DOUBLE) AS "c${at}"`);
  const found = await withDuckDb((session) =>
    session.rows(`SELECT ${values.join(", ")} FROM ${source} ORDER BY 1`),
  ).catch((error: Error) => refuse(`the predictions cannot be read (${error.message.split("\n")[0]})`));
  if (found.length !== rows) refuse(`the predictions have ${found.length} rows`);
  const width = names.length > 2 ? names.length : 1;
  const outputs = new Float32Array(rows * width);
  found.forEach((row, at) => {
    if (row["c0"] !== at) refuse(`the predictions have row ${row["c0"]} in place of row ${at}`);
    const numbers = names.map((_, i) => row[`c${i + 1}`]).map((value) => (value === null ? Number.NaN : Number(value)));
    if (!numbers.every(Number.isFinite)) refuse(`row ${at} of the predictions is not finite`);
    const sum = numbers.reduce((total, value) => total + value, 0);
    if (label.kind === "class" && (Math.abs(sum - 1) > tolerance || numbers.some((value) => value < 0)))
      refuse(`the probabilities of row ${at} add up to ${sum} and must to 1`);
    outputs.set(width > 1 ? numbers : numbers.slice(-1), at * width);
  });
  const shape = width > 1 ? [rows, width] : [rows];
  return encodeSafetensors({ tensors: { outputs: { dtype: "F32", shape, data: outputs } } });
}
