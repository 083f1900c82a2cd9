import { valueLimit } from "../../core/datasets/profile";
import { listTokens } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError } from "../../core/errors";
import { canonicalTypes } from "./cast";
import { type Counts, countsOf, nearTypes, typeOf } from "./column-counts";
import { joinedColumns } from "./column-origins";
import type { TargetSize } from "./formats/image-header";
import { maxDigits, wideDecimal } from "./formats/tables";
import type { NumberFormat } from "./number-formats";
import type { DuckDbSession } from "./session";
import { type DataFiles, openSource } from "./source";

/** A suggested column, with a remark if a person should check it. */
export interface InferredColumn extends ColumnSchema {
  readonly note?: string;
  /** Whether a schema cannot name the column. */
  readonly omitted?: true;
  /** Whether it has no value, so that its type is unknown. */
  readonly empty?: true;
  /** Whether no value is missing, although the column is nullable because it is ignored. */
  readonly complete?: true;
}

export interface InferredSchema {
  readonly columns: readonly InferredColumn[];
  /** Texts that mean a missing value, in every column. */
  readonly missing: readonly string[];
}

/** Texts that often mean a missing value. */
const knownTokens = [
  "NA",
  "N/A",
  "n/a",
  "#N/A",
  "NaN",
  "nan",
  "null",
  "NULL",
  "Null",
  "None",
  "none",
  "?",
  "-",
  "--",
  ".",
];
/** Share of values from which a column of text is described by the type that they fit. */
const nearShare = 0.95;
/** The maximum number of values of an integer class. A column with more values is suggested as a quantity. */
const maxIntClasses = 20;

/**
 * Suggests a schema for a CSV, Parquet or JSON file. A type is suggested only if a push would accept every value.
 *
 * A token such as `NA` counts as missing if a column consists of numbers, dates or booleans without it. It is then
 * missing in every column of the file.
 *
 * @param label names the column to predict; images and texts have one
 * @param tokens texts that mean a missing value; by default those that the values show
 * @throws InvalidInputError if the file cannot be read or has no such column
 */
export async function inferSchema(
  session: DuckDbSession,
  files: DataFiles,
  label: string | undefined,
  tokens?: readonly string[],
  size?: TargetSize,
): Promise<InferredSchema> {
  const { types, name: file, columns: own } = await openSource(session, files, [], size);
  const labelled = own?.find(({ role }) => role === "label");
  if (own && labelled?.name === (label ?? labelled?.name)) return { columns: own, missing: [] };
  const names = [...types.keys()].slice(0, 30).join(", ");
  if (label === undefined) {
    const rule = `is required: name the column of ${file} to predict: ${names}`;
    throw new InvalidInputError("no schema can be suggested", [{ path: "--label", rule }]);
  }
  const isRead = (name: string): boolean => name === label || !types.get(name)!.startsWith(wideDecimal);
  const columns = [...types.keys()]
    .filter(isRead)
    .map((name): ColumnSchema => ({ name, type: "string", role: "feature" }));
  if (!types.has(label)) {
    const rule = `must be a column of ${file}: ${names}`;
    throw new InvalidInputError("no schema can be suggested", [{ path: "--label", value: label, rule }]);
  }
  const source = await openSource(session, files, columns, size);
  const count = (name: string, missing: readonly string[]): Promise<Counts> =>
    source.reading(() => countsOf(session, source.table, { name, missing: [...missing] }, source.types.get(name)!));
  const found = new Map<string, Counts>();
  for (const { name } of columns) found.set(name, await count(name, tokens ?? knownTokens));
  if (found.get(label)!.rows === 0) {
    throw new InvalidInputError("no schema can be suggested", [{ path: file, rule: "must have rows" }]);
  }
  const missing = tokens ?? [...new Set([...found.values()].flatMap(evidentTokens))];
  const joined = await joinedColumns(session, files);
  const inferred: InferredColumn[] = [];
  for (const name of types.keys()) {
    const counts = found.get(name);
    if (counts === undefined) {
      const note = `decimals of more than ${maxDigits} digits are not read: write them as DOUBLE`;
      inferred.push({ name, type: "string", role: "ignore", omitted: true, note });
      continue;
    }
    // A token that is no missing value in this file is a value of its text columns.
    const kept = counts.tokens.every((token) => missing.includes(token)) ? counts : await count(name, missing);
    const rest = kept.digitless.length > 0 ? await count(name, [...missing, ...kept.digitless]) : undefined;
    const suggested = name === label ? labelOf(name, kept) : featureOf(name, kept, rest);
    const typed = joined.features.has(name) ? withStoredType(suggested, source.types.get(name)!) : suggested;
    const column = joined.keys.has(name) && name !== label ? ignoredKey(typed) : typed;
    inferred.push(withTokenNote(column, tokens === undefined ? counts.tokens : [], missing));
  }
  return { columns: inferred, missing };
}

/** Returns a column of `views join` with the type of the view's feature, whatever its values look like. */
function withStoredType({ format: _, ...column }: InferredColumn, sourceType: string): InferredColumn {
  const type = (Object.keys(canonicalTypes) as ColumnSchema["type"][]).find(
    (one) => canonicalTypes[one] === sourceType,
  );
  return type === undefined || column.role === "label" ? column : { ...column, type };
}

/** Returns an entity or the time of `views join`: it names the row, and is no feature of it. */
function ignoredKey({ note: _, ...column }: InferredColumn): InferredColumn {
  return { ...column, role: "ignore", note: "a key of views join: with role feature the model reads it" };
}

/** Returns the tokens without which the column is no text. */
function evidentTokens(counts: Counts): readonly string[] {
  const type = typeOf(counts);
  return counts.present > 0 && type !== undefined && type !== "string" ? counts.tokens : [];
}

function withTokenNote(column: InferredColumn, seen: readonly string[], missing: readonly string[]): InferredColumn {
  if (column.type !== "string" || column.role === "ignore" || column.note !== undefined || seen.length === 0)
    return column;
  const taken = seen.filter((token) => missing.includes(token));
  if (taken.length > 0) return { ...column, note: `${listTokens(taken)} is missing; with missing: [] it is text` };
  return {
    ...column,
    note: `${listTokens(seen)} is text; with missing: [${listTokens(seen)}], nullable: true it is missing`,
  };
}

function labelOf(name: string, counts: Counts): InferredColumn {
  // A date is no label, and many numbers are a quantity even with zeros in front.
  const padded = counts.distinct > maxIntClasses ? 0 : counts.padded;
  const type = typeOf({ ...counts, padded, formats: [], fitting: { ...counts.fitting, timestamp: -1 } }) ?? "string";
  const [number, other] = counts.numberFormats;
  const format = number === undefined ? {} : { format: number.format };
  const absent = counts.rows - valuesOf(type, counts);
  const missing = absent > 0 ? `missing in ${absent} rows, which a push refuses` : undefined;
  if ((type === "int" || isLong(type, counts)) && counts.distinct > maxIntClasses) {
    const note = `${counts.distinct} values: predicted as a number; with type ${type} they are classes`;
    return { name, type: "float", role: "label", ...format, note: missing ?? note };
  }
  const note = missing ?? (number && otherFormat(number, other));
  return { name, type, role: "label", ...format, ...(note === undefined ? {} : { note }) };
}

/** Returns the number of values that are not missing. */
function valuesOf(type: ColumnSchema["type"] | undefined, { present, nan }: Counts): number {
  return type === "float" ? present - nan : present;
}

/** Returns whether the values are whole numbers of more than 53 bits. */
function isLong(type: ColumnSchema["type"], { present, digits, padded }: Counts): boolean {
  return type === "string" && present > 0 && digits === present && padded === 0;
}

/** Remarks that another number format gives other numbers. */
function otherFormat(taken: NumberFormat, other: NumberFormat | undefined): string | undefined {
  if (other === undefined) return undefined;
  return `${other.format} fits as well: check which character of ${taken.format} begins the decimals`;
}

/**
 * Describes a column of text whose values nearly all fit another type; `undefined` for other columns.
 *
 * @param rest counts of the values without the texts of `digitless`
 */
function nearType({ present, fitting, unfit, mixed, digitless }: Counts, rest: Counts | undefined): string | undefined {
  if (mixed) {
    const [one, other] = mixed.map((value) => JSON.stringify(value));
    return `dates of different formats (${one} and ${other}): write them alike, and set type timestamp`;
  }
  const type = nearTypes.find((one) => fitting[one] >= nearShare * present && fitting[one] < present);
  const advice = (count: number, found: string, other: string): string =>
    `${count} of ${present} values are ${found}, and ${other} is not: correct it, or add it to missing, and set type ${found}`;
  if (type !== undefined && unfit[type] !== undefined) return advice(fitting[type], type, JSON.stringify(unfit[type]));
  const found = rest && nearTypes.find((one) => one === typeOf(rest));
  if (found === undefined) return undefined;
  const format = rest?.numberFormats[0]?.format ?? rest?.formats[0];
  const setting = format === undefined ? "" : `, format: ${JSON.stringify(format)}`;
  return advice(rest!.present, found, listTokens(digitless)) + setting;
}

function featureOf(name: string, counts: Counts, rest: Counts | undefined): InferredColumn {
  const { rows, distinct, shape, formats, consecutive } = counts;
  const type = typeOf(counts);
  const values = valuesOf(type, counts);
  const ignored = (note: string, type: ColumnSchema["type"] = "string"): InferredColumn => ({
    ...{ name, type, role: "ignore", nullable: true, note, ...(values === rows ? { complete: true } : {}) },
  });
  if (values === 0) return { ...ignored("no value"), empty: true };
  const missing = values < rows ? { nullable: true } : {};
  if (shape !== undefined) {
    const note = shape.length === 1 ? { note: "flat: give every dimension, such as [28, 28, 1]" } : {};
    return { name, type: "tensor", shape: [...shape], role: "feature", ...missing, ...note };
  }
  if (type === undefined) return { ...ignored("its type is not supported for columns"), omitted: true };
  if (type === "string" && counts.nested === values)
    return ignored("lists or objects of JSON, which no model reads: write a column for each of their values");
  const unique = distinct === rows && rows > 20;
  const near = type === "string" ? nearType(counts, rest) : undefined;
  const isText = type === "string";
  if (isText && unique) return ignored(near ?? "every row has a different text, like an id");
  if (isText && distinct > valueLimit && 2 * distinct > rows) return ignored(near ?? `${distinct} different texts`);
  if (near !== undefined) return { name, type: "string", role: "feature", ...missing, note: near };
  if (type === "string" && counts.padded > 0 && counts.digits === counts.present) {
    const note = "digits with zeros in front, like a postal code; with type int they are numbers";
    return { name, type, role: "feature", ...missing, note };
  }
  if (isLong(type, counts)) {
    const note = "whole numbers of more than 53 bits, which are not int; with type float they are rounded";
    return { name, type, role: "feature", ...missing, note };
  }
  if (type === "int" && unique && consecutive) return ignored("the numbers of rows, like an id", type);
  if (type === "int" && unique && (/(^|[^a-z])id$/i.test(name) || /[a-z]I[Dd]$/.test(name)))
    return ignored("every row has a different id", type);
  const [number, otherNumber] = counts.numberFormats;
  if (number !== undefined) {
    const note = otherFormat(number, otherNumber);
    return { name, type, role: "feature", ...missing, format: number.format, ...(note === undefined ? {} : { note }) };
  }
  const [format, other] = formats;
  if (format !== undefined) {
    const note = other === undefined ? {} : { note: `${other} fits as well: check which comes first, day or month` };
    return { name, type, role: "feature", ...missing, format, ...note };
  }
  return { name, type, role: "feature", ...missing };
}
