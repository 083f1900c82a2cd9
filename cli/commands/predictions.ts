import { createWriteStream, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { extname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parquetOf } from "../../adapters/parquet";
import type { ApiClient } from "../../client/api-client";
import { completeRows, type NeededView, neededViews, viewWarnings } from "../../client/complete-rows";
import { isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem } from "../../core/errors";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { inputColumns } from "../../core/features/planned-rows";
import type { RawRow } from "../../core/features/transform";
import { documentLimits, JsonLimitError, parseJson } from "../../core/json-text";
import { formatCount } from "../../core/quantities";
import { type Cell, type ColumnBlock, csvOf, type ExportColumn } from "../../core/tables";
import type { Command } from "../command";
import { contextOf } from "../context";
import { entityOf } from "../features/entity";
import { artifactOf } from "../model-reference";
import { formatNumber, printJson } from "../output";
import { openPredictor, type Prediction } from "../predict";
import { openPredictionLog, type PredictionLog, timeOfPredictions } from "../prediction-log";
import { assertKeepsInputs } from "../write-file";

const writers = { ".csv": csvOf, ".parquet": parquetOf } as const;
/** Rows that are written at a time. Bounds the memory. */
const rowsPerBlock = 16_384;

interface PredictFileOptions {
  readonly views?: readonly NeededView[];
  readonly onAbsent?: ((view: string, entities: readonly string[]) => void) | undefined;
  readonly log?: PredictionLog | undefined;
  readonly unit?: string | undefined;
}

/**
 * Predicts the rows of a file, in batches, into a file; columns of views that it lacks are read online. @throws
 * InvalidInputError that names the rows; the output does not exist then
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
  const { withDuckDb } = await import("../../adapters/duckdb/workspace");
  const { readRawRows } = await import("../../adapters/duckdb/raw-rows");
  let done = 0;
  async function* blocks(rows: AsyncIterable<readonly RawRow[]>): AsyncGenerator<ColumnBlock> {
    let block = emptyBlock();
    for await (const row of rows) {
      const { batch, predictions } = await numbered(done, async () => {
        const batch = await completeRows(client, views, row, onAbsent);
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

interface Options {
  readonly file?: string;
  readonly entity: readonly string[];
  readonly out?: string;
  readonly log?: boolean;
  readonly unit?: string;
  readonly at?: string;
}

export function addPredictCommand(models: Command): void {
  models
    .command("predict <model>")
    .description(
      "load a version in this process and predict the rows of a file, or an entity: NAME (the one in production), NAME@3 or NAME@ALIAS",
    )
    .option(
      "--file <file>",
      "rows of raw columns: a JSON list of objects; with --out also CSV, Parquet or JSON lines. Features of views are read where only the entity is given",
    )
    .repeatable("--entity <column=value>", "predict an entity by its features in the online store")
    .option("--out <file>", "write the predictions to a .csv or .parquet file, in batches")
    .option(
      "--log",
      "write the predictions to the inference log, so that monitors see them; a repeated call logs nothing more",
    )
    .option("--unit <column>", "with --log: column of the user or device; default: the entity, else the row itself")
    .option("--at <time>", "with --log: time of the predictions; default: the file's, or the start of the day (UTC)")
    .action(async (which: string, options: Options, command: Command) => {
      assertOptions(options);
      const { client, json } = contextOf(command);
      const { model, version, artifact } = await artifactOf(client, which);
      const views = await neededViews(client, artifact);
      const warnings = [...viewWarnings(views)];
      const absent = new AbsentEntities();
      if (!json) for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
      const log = options.log
        ? openPredictionLog({ client, model, version, artifact, views }, options.unit, timeOfPredictions(options))
        : undefined;
      const { file, out } = options;
      try {
        const prediction =
          file !== undefined && out !== undefined
            ? {
                rows: await predictFile(client, artifact, file, out, progressOf(json), {
                  views,
                  onAbsent: absent.add,
                  log,
                  unit: options.unit,
                }),
                out,
              }
            : {
                predictions: await predictionsOf(
                  file === undefined ? [entityRow(options.entity, views, artifact)] : readRows(file),
                ),
              };
        const logged = await log?.send();
        const absences = absent.warnings();
        if (!json) for (const warning of absences) process.stderr.write(`warning: ${warning}\n`);
        warnings.push(...absences);
        if (json)
          return printJson({
            model,
            version,
            ...prediction,
            ...(logged && { logged }),
            ...(warnings.length > 0 && { warnings }),
          });
        if (prediction.predictions === undefined) {
          process.stdout.write(`${out}: predictions of ${prediction.rows} rows by ${model} version ${version}\n`);
        } else {
          for (const [i, one] of prediction.predictions.entries())
            process.stdout.write(`row ${i + 1}: ${textOf(one)}\n`);
        }
        if (logged) process.stdout.write(`${logged.stored} rows logged, ${logged.known} already logged\n`);
      } finally {
        log?.dispose();
      }

      async function predictionsOf(given: readonly RawRow[]): Promise<readonly Prediction[]> {
        const rows = await completeRows(client, views, given, absent.add);
        const predictor = await openPredictor(client, artifact);
        const predictions = predictor.predict(rows);
        predictor.dispose();
        log?.add(rows, predictions);
        return predictions;
      }
    });
}

class AbsentEntities {
  private readonly views = new Map<string, { count: number; readonly first: string }>();

  readonly add = (view: string, entities: readonly string[]): void => {
    const missing = this.views.get(view) ?? { count: 0, first: entities[0]! };
    missing.count += entities.length;
    this.views.set(view, missing);
  };

  warnings(): readonly string[] {
    return [...this.views].map(([view, { count, first }]) => {
      const others = count === 1 ? "" : ` and ${formatCount(count - 1, "other entity", "other entities")}`;
      return `${view} has no row of ${first}${others}, or none within its TTL: the features are missing`;
    });
  }
}

function progressOf(json: boolean): (rows: number) => void {
  return (rows) => (json ? undefined : process.stderr.write(`\r${rows} rows `));
}

function assertOptions({ file, entity, out, log, unit, at }: Options): void {
  const problems: Problem[] = [];
  if ((file === undefined) === (entity.length === 0)) {
    problems.push({ path: "--file", rule: "or --entity is required, and not both" });
  }
  // With --out the file may also be a glob or a folder, which its reader reports.
  if (file !== undefined && out === undefined && entity.length === 0 && !existsSync(file)) {
    problems.push({ path: "--file", value: file, rule: "must exist" });
  }
  if (out !== undefined && file === undefined) problems.push({ path: "--out", value: out, rule: "needs --file" });
  for (const [path, value] of Object.entries({ "--unit": unit, "--at": at })) {
    if (value !== undefined && !log) problems.push({ path, value, rule: "is for --log" });
  }
  if (unit !== undefined && file === undefined) {
    problems.push({ path: "--unit", value: unit, rule: "needs --file; an entity is its own unit" });
  }
  if (problems.length > 0) throw new InvalidInputError("the options are not valid", problems);
  assertKeepsInputs("--out", out, { "--file": file });
}

/** @throws InvalidInputError if the model has no views, needs other columns, or an option names no entity column */
function entityRow(
  options: readonly string[],
  views: readonly NeededView[],
  { inputSchema, transform }: ModelArtifact,
): RawRow {
  if (views.length === 0) {
    const rule = "must be left out: no column of the model comes from a feature view; give rows with --file";
    throw new InvalidInputError("the options are not valid", [{ path: "--entity", value: options[0], rule }]);
  }
  const present = new Set(
    views
      .flatMap(({ entities, columns }) => [...entities, ...columns.map((one) => one.column)])
      .map(({ name }) => name),
  );
  const used = inputColumns(transform);
  const others = inputSchema.filter(
    (column) => used.has(column.name) && !present.has(column.name) && !isNullable(column),
  );
  if (others.length > 0) {
    const names = others.map(({ name }) => name).join(", ");
    const rule = `gives no value of ${names}, which no feature view has: use --file with rows of ${names} and the entity's columns`;
    throw new InvalidInputError("the model needs more columns", [{ path: "--entity", value: options.join(" "), rule }]);
  }
  return entityOf(
    options,
    views.map(({ view, entities }) => ({
      name: view,
      entities: entities.map(({ name }) => name),
      columns: Object.fromEntries(entities.map(({ name, type }) => [name, type])),
    })),
  );
}

function textOf(prediction: Prediction): string {
  if ("value" in prediction) return formatNumber(prediction.value);
  const most = Math.max(...prediction.probabilities.map(({ probability }) => probability));
  return `${prediction.label}  ${formatNumber(most)}`;
}

function readRows(file: string): readonly RawRow[] {
  const bad = (rule: string, cause?: unknown) =>
    new InvalidInputError("the rows cannot be read", [{ path: "--file", value: file, rule }], cause);
  let rows: unknown;
  try {
    rows = parseJson(readFileSync(file, "utf8"), documentLimits);
  } catch (cause) {
    if (cause instanceof JsonLimitError) throw bad(cause.rule, cause);
    throw bad("must be a JSON file that can be read; for other formats name a file by --out", cause);
  }
  if (Array.isArray(rows) && rows.length > 0 && rows.every((row) => row !== null && typeof row === "object"))
    return rows;
  throw bad("must hold a list of objects, at least one");
}
