import { createWriteStream, renameSync, rmSync } from "node:fs";
import { extname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { csvOf } from "../api/tables/csv";
import { parquetOf } from "../api/tables/parquet";
import type { Cell, ColumnBlock, ExportColumn } from "../api/tables/tables";
import type { ApiClient } from "../client/api-client";
import { completeRows, type NeededView } from "../client/complete-rows";
import type { ColumnSchema } from "../core/datasets/shapes";
import { InvalidInputError } from "../core/errors";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import { inputColumns } from "../core/features/planned-rows";
import type { RawRow } from "../core/features/transform";
import { openPredictor, type Prediction } from "./predict";
import type { PredictionLog } from "./prediction-log";

const writers = { ".csv": csvOf, ".parquet": parquetOf } as const;
/** Rows that are written at a time. Bounds the memory. */
const rowsPerBlock = 16_384;

export interface PredictFileOptions {
  /** Views whose features complete the rows. */
  readonly views?: readonly NeededView[];
  /** See `completeRows`. */
  readonly onAbsent?: ((view: string, entities: readonly string[]) => void) | undefined;
  /** Gets the rows with their predictions. */
  readonly log?: PredictionLog | undefined;
  /** A column that the log reads. */
  readonly unit?: string | undefined;
}

/**
 * Predicts the rows of a CSV, Parquet or JSON file in batches, in their order, into a file with one row each: its number
 * from 1, and the label with each class's probability, or the value. Columns of views that the file lacks are read
 * online.
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
  { views = [], onAbsent, log, unit }: PredictFileOptions = {},
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
    for await (const given of rows) {
      const { batch, predictions } = await numbered(done, async () => {
        const batch = await completeRows(client, views, given, onAbsent);
        return { batch, predictions: predictor.predict(batch) };
      });
      log?.add(batch, predictions);
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
    const read = columnsToRead(artifact, views, unit);
    await withDuckDb((session) => {
      const rows = readRawRows(session, file, read.columns, read.optional);
      return pipeline(Readable.from(write(columns, blocks(rows))), createWriteStream(partial));
    });
    renameSync(partial, out);
    return done;
  } finally {
    rmSync(partial, { force: true });
    predictor.dispose();
  }
}

/** Processes a batch. Its errors name rows of the file. */
async function numbered<Result>(before: number, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const problems = error.details.problems.map((problem) => ({
      ...problem,
      path: problem.path.replace(/^rows\[(\d+)\]/, (_, row: string) => `row ${before + Number(row) + 1}`),
    }));
    throw new InvalidInputError("the rows cannot be predicted", problems.slice(0, 20), error);
  }
}

/** Returns the columns to read: the model's, those that identify entities, and the unit's. */
function columnsToRead(
  { transform, inputSchema }: ModelArtifact,
  views: readonly NeededView[],
  unit: string | undefined,
): { readonly columns: readonly ColumnSchema[]; readonly optional: ReadonlySet<string> } {
  const needed = inputColumns(transform);
  const columns = new Map(inputSchema.filter(({ name }) => needed.has(name)).map((column) => [column.name, column]));
  const optional = new Set(views.flatMap((view) => view.columns.map(({ column }) => column.name)));
  for (const { name, type } of views.flatMap(({ entities }) => entities)) {
    if (columns.has(name)) continue;
    columns.set(name, { name, type, role: "ignore", nullable: true });
    optional.add(name);
  }
  if (unit !== undefined && !columns.has(unit)) columns.set(unit, { name: unit, type: "string", role: "ignore" });
  return { columns: [...columns.values()], optional };
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
