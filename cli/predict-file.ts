import { createWriteStream, renameSync, rmSync } from "node:fs";
import { extname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { csvOf } from "../api/tables/csv";
import { parquetOf } from "../api/tables/parquet";
import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import { inputColumns } from "../core/features/planned-rows";
import type { RawRow } from "../core/features/transform";
import type { Cell, ColumnBlock, ExportColumn } from "../core/tracking/export/tables";
import { openPredictor, type Prediction } from "./predict";

const writers = { ".csv": csvOf, ".parquet": parquetOf } as const;
/** Rows that are written at a time. Bounds the memory. */
const rowsPerBlock = 16_384;

/**
 * Predicts the rows of a CSV, Parquet or JSON file in batches, in their order, into a file with one row each: its number
 * from 1, and the label with each class's probability, or the value.
 *
 * @throws InvalidInputError that names the rows; the output does not exist then
 * @returns the number of rows
 */
export async function predictFile(
  client: ApiClient,
  artifact: ModelArtifact,
  file: string,
  out: string,
  onRows: (rows: number) => void,
): Promise<number> {
  const write = writers[extname(out).toLowerCase() as keyof typeof writers];
  if (write === undefined) {
    const rule = `must end in one of ${Object.keys(writers).join(", ")}`;
    throw new InvalidInputError("the predictions cannot be written", [{ path: "--out", value: out, rule }]);
  }
  const predictor = await openPredictor(client, artifact);
  // Loaded only by this command, because DuckDB loads slowly.
  const { withDuckDb } = await import("../adapters/duckdb/workspace");
  const { readRawRows } = await import("../adapters/duckdb/raw-rows");
  let done = 0;
  async function* blocks(rows: AsyncIterable<readonly RawRow[]>): AsyncGenerator<ColumnBlock> {
    let block = emptyBlock();
    for await (const batch of rows) {
      const predictions = predictedRows(predictor.predict, batch, done);
      for (const [i, prediction] of predictions.entries()) {
        for (const [column, cell] of cellsOf(prediction, done + i + 1).entries()) block[column]?.push(cell);
      }
      done += batch.length;
      if ((block[0]?.length ?? 0) < rowsPerBlock) continue;
      onRows(done);
      yield block;
      block = emptyBlock();
    }
    if ((block[0]?.length ?? 0) > 0) yield block;
  }
  const columns = columnsOf(artifact);
  const emptyBlock = (): Cell[][] => columns.map(() => []);
  const partial = `${out}.partial`;
  try {
    const needed = inputColumns(artifact.transform);
    const inputs = artifact.inputSchema.filter(({ name }) => needed.has(name));
    await withDuckDb((session) =>
      pipeline(Readable.from(write(columns, blocks(readRawRows(session, file, inputs)))), createWriteStream(partial)),
    );
    renameSync(partial, out);
    return done;
  } finally {
    rmSync(partial, { force: true });
    predictor.dispose();
  }
}

/** Predicts a batch. Its errors name rows of the file. */
function predictedRows(
  predict: (rows: readonly RawRow[]) => readonly Prediction[],
  batch: readonly RawRow[],
  before: number,
): readonly Prediction[] {
  try {
    return predict(batch);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const problems = error.details.problems.map((problem) => ({
      ...problem,
      path: problem.path.replace(/^rows\[(\d+)\]/, (_, row: string) => `row ${before + Number(row) + 1}`),
    }));
    throw new InvalidInputError("the rows cannot be predicted", problems.slice(0, 20), error);
  }
}

function columnsOf({ outputSchema }: ModelArtifact): readonly ExportColumn[] {
  const row = { name: "row", type: "int" } as const;
  if (outputSchema.kind === "value") return [row, { name: "value", type: "double" }];
  const probabilities = outputSchema.classes.map(
    (label): ExportColumn => ({ name: `probability_${label}`, type: "double" }),
  );
  return [row, { name: "label", type: "string" }, ...probabilities];
}

function cellsOf(prediction: Prediction, row: number): readonly Cell[] {
  if ("value" in prediction) return [row, prediction.value];
  return [row, String(prediction.label), ...prediction.probabilities.map(({ probability }) => probability)];
}
