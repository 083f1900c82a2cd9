import { gunzipSync, gzipSync } from "node:zlib";
import * as z from "zod";
import { sha256 } from "../digest";
import { InvalidInputError, type Problem } from "../errors";
import { category, type Shape } from "../shapes";
import type { ServedRow } from "./served-rows";

/** Rows are stored for this long. Older rows are refused, so a batch that is sent again later is not stored again. */
export const servedDays = 30;
export const maxServedRows = 1_000;
const dayMs = 24 * 60 * 60 * 1000;
const maxColumns = 10_000;

export const loggedRow = z
  .strictObject({
    unit: z.string().min(1).max(1_000).meta({
      description: "User, session or device. Its hash decides whether the row is in the sample, and alone is stored.",
    }),
    at: z.iso.datetime({ offset: true }).meta({ description: "Time of the prediction, at most 30 days ago." }),
    row: z
      .record(z.string().min(1).max(255), z.unknown())
      .refine((row) => Object.keys(row).length <= maxColumns, `must have at most ${maxColumns} columns`)
      .meta({ description: "The raw row as the model received it." }),
    prediction: category.meta({ description: "The predicted class or value." }),
    label: category.optional().meta({ description: "The true label, if it is known." }),
  })
  .meta({ id: "ServedRow" });
export interface LoggedRow extends Shape<typeof loggedRow> {}

/** A row as it is stored: the place of its unit in [0, 1) stands for the unit. */
export interface StoredRow extends ServedRow {
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
    if (time >= now - servedDays * dayMs && time <= now + dayMs) return [];
    return [{ path: `rows.${index}.at`, value: at, rule: `must be in the last ${servedDays} days` }];
  });
  if (problems.length > 0) throw new InvalidInputError("the served rows cannot be stored", problems.slice(0, 20));
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

type BatchDocument = {
  readonly [Name in "places" | "times"]: readonly number[];
} & {
  readonly [Name in "predictions" | "labels"]: readonly ServedRow["label"][];
} & { readonly names: readonly string[]; readonly columns: readonly (readonly unknown[])[] };

export function decodeBatch(content: Uint8Array): readonly StoredRow[] {
  const read = JSON.parse(gunzipSync(content).toString()) as BatchDocument;
  return read.places.map((place, at) => ({
    place,
    at: read.times[at]!,
    prediction: read.predictions[at],
    label: read.labels[at],
    row: Object.fromEntries(read.names.map((name, column) => [name, read.columns[column]![at]])),
  }));
}
