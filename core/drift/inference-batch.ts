import { gunzipSync, gzipSync } from "node:zlib";
import * as z from "zod";
import type { Category } from "../datasets/profile";
import type { ColumnSchema } from "../datasets/shapes";
import { sha256 } from "../digest";
import { InvalidInputError, type Problem } from "../errors";
import { type RawRow, readRaw } from "../features/transform";
import type { ColumnBatch, ColumnValues, RowSource } from "../features/values";
import { type DocumentKind, parseDocument } from "../object-documents";
import { category, type Shape } from "../shapes";
import { Collector, type ColumnSample } from "./sample";
import type { LoggedRow } from "./shapes";

/** Rows are stored for this long. Older rows are refused, so a batch that is sent again later is not stored again. */
export const inferenceDays = 30;

const dayMs = 24 * 60 * 60 * 1000;

/** A row as it is stored: the place of its unit in [0, 1) stands for the unit. */
export interface StoredRow extends InferenceRow {
  readonly place: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns the place of a unit in [0, 1), the same each time. A sample of a share has the units below that share. */
export function placeOfUnit(unit: string): number {
  return Number.parseInt(sha256(unit).slice(0, 12), 16) / 16 ** 12;
}

/** @throws InvalidInputError that names the rows of other times */
export function checkTimes(rows: readonly LoggedRow[], now: number): void {
  const problems = rows.flatMap(({ at }, index): readonly Problem[] => {
    const time = Date.parse(at);
    if (time >= now - inferenceDays * dayMs && time <= now + dayMs) return [];
    return [{ path: `rows.${index}.at`, value: at, rule: `must be in the last ${inferenceDays} days` }];
  });
  if (problems.length > 0) throw new InvalidInputError("the inferences cannot be stored", problems.slice(0, 20));
}

/** Encodes rows by column, compressed. A column that a row lacks has `null` there, as if the value were missing. */
export function encodeBatch(rows: readonly LoggedRow[]): Uint8Array {
  const names = new Set(rows.flatMap(({ row }) => Object.keys(row)));
  const column = (name: string) => rows.map(({ row }) => (Object.hasOwn(row, name) ? (row[name] ?? null) : null));
  const document = {
    places: rows.map(({ unit }) => placeOfUnit(unit)),
    times: rows.map(({ at }) => Date.parse(at)),
    predictions: rows.map(({ prediction }) => prediction),
    labels: rows.map(({ label }) => label ?? null),
    names: [...names],
    columns: [...names].map(column),
  };
  return gzipSync(JSON.stringify(document));
}

const values = z.array(category.nullable());

const batchSchema = z.object({
  places: z.array(z.number()),
  times: z.array(z.number()),
  predictions: values,
  labels: values,
  names: z.array(z.string()),
  columns: z.array(z.array(z.unknown())),
});

/** Bytes of a decompressed batch. A request has at most 10 MB. */
const maxBatchBytes = 2 ** 26;

const batch: DocumentKind<Shape<typeof batchSchema>> = {
  name: "a batch of inferences",
  schema: batchSchema,
  maxBytes: maxBatchBytes,
};

/** Decodes rows. Their columns are in the order of their names, without missing values: so equal rows have equal JSON. */
export function decodeBatch(key: string, content: Uint8Array): readonly StoredRow[] {
  const read = parseDocument(key, gunzipSync(content, { maxOutputLength: maxBatchBytes }), batch);
  const columns = read.names
    .map((name, column) => ({ name, values: read.columns[column]! }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return read.places.map((place, at) => ({
    place,
    at: read.times[at]!,
    prediction: read.predictions[at],
    label: read.labels[at],
    row: Object.fromEntries(
      columns.filter(({ values }) => values[at] !== null).map(({ name, values }) => [name, values[at]]),
    ),
  }));
}

export interface InferenceRow {
  readonly row: RawRow;
  readonly prediction?: Category | null | undefined;
  readonly label?: Category | null | undefined;
}

/** Reads inferences as the columns of a dataset version. A value that does not fit its column counts as missing. */
export class InferenceRows implements RowSource {
  private readonly seen = new Map<string, { given: number; wrong: number }>();
  private readonly predicted: Collector;

  /**
   * @param open reads the rows from the start
   * @param prediction the column of predictions
   */
  constructor(
    private readonly open: () => AsyncIterable<readonly InferenceRow[]>,
    private readonly prediction: ColumnSchema,
  ) {
    this.predicted = new Collector(prediction);
  }

  /** Reads the rows once. The other methods answer for these rows. */
  async *read(columns: readonly ColumnSchema[]): AsyncGenerator<ColumnBatch> {
    let firstRow = 0;
    for await (const rows of this.open()) {
      const values = columns.map((column) => [column.name, this.valuesOf(rows, column)] as const);
      for (const { prediction } of rows) this.predicted.addValue(predictionValue(prediction, this.prediction));
      yield { rows: rows.length, firstRow, columns: Object.fromEntries(values) };
      firstRow += rows.length;
    }
  }

  predictions(): ColumnSample {
    return this.predicted.finish();
  }

  /** Returns the rows in which a column had a value, and in how many of them it had another type. */
  valuesSeen(column: string): { readonly given: number; readonly wrong: number } {
    return this.seen.get(column) ?? { given: 0, wrong: 0 };
  }

  private valuesOf(rows: readonly InferenceRow[], column: ColumnSchema): ColumnValues {
    const seen = this.seen.get(column.name) ?? { given: 0, wrong: 0 };
    this.seen.set(column.name, seen);
    const read = rows.map(({ row, label }) => {
      const raw = column.role === "label" ? label : Object.hasOwn(row, column.name) ? row[column.name] : undefined;
      if (raw === undefined || raw === null) return undefined;
      seen.given += 1;
      const value = readRaw(raw, column);
      if (value.rule === undefined) return value;
      seen.wrong += 1;
      return undefined;
    });
    if (column.type === "string") {
      return { kind: "string", values: read.map((value) => (value?.category as string | undefined) ?? null) };
    }
    const valid = Uint8Array.from(read, (value) => Number(value !== undefined));
    if (column.type !== "tensor") {
      const numbers = read.map((value) => value?.numbers?.[0] ?? Number(value?.category ?? 0));
      return { kind: "number", values: Float64Array.from(numbers), valid };
    }
    const width = read.find((value) => value !== undefined)?.numbers?.length ?? 1;
    const values = new Float32Array(rows.length * width);
    for (const [at, value] of read.entries()) values.set(value?.numbers ?? [], at * width);
    return { kind: "tensor", values, width, valid };
  }
}

function predictionValue(prediction: InferenceRow["prediction"], { type }: ColumnSchema): string | number | undefined {
  if (prediction === undefined || prediction === null) return undefined;
  if (type === "string") return String(prediction);
  return typeof prediction === "number" && Number.isFinite(prediction) ? prediction : undefined;
}
