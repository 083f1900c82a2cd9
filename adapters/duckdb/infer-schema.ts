import { valueLimit } from "../../core/datasets/profile";
import { listTokens, oneClass } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError } from "../../core/errors";
import { canonicalTypes } from "./cast";
import { type Counts, countsOf, groupValues, nearShare, nearTypes, typeOf } from "./column-counts";
import { joinedColumns } from "./column-origins";
import type { TargetSize } from "./formats/image-header";
import { problemOfType } from "./formats/tables";
import type { NumberFormat } from "./number-formats";
import type { DuckDbSession } from "./session";
import { type DataFiles, openSource } from "./source";

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
  /** Texts that the caller says to mean a missing value, in every column. Inferred ones are those of a column. */
  readonly missing: readonly string[];
}

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
/** The maximum number of values of an integer class. A column with more values is suggested as a quantity. */
const maxIntClasses = 20;

/**
 * Suggests a schema for a CSV, Parquet or JSON file. A type is suggested only if a push would accept every value.
 *
 * A token such as `NA` is missing in a column that consists of numbers, dates or booleans without it.
 *
 * @param label names the column to predict; images and texts have one
 * @param tokens texts that mean a missing value; by default those that the values show
 * @throws InvalidInputError if the file cannot be read, has no such column, or the label has no classes and is no number
 */
export async function inferSchema(
  session: DuckDbSession,
  files: DataFiles,
  label: string | undefined,
  tokens?: readonly string[],
  size?: TargetSize,
): Promise<InferredSchema> {
  const { types, name: file, columns: fileColumns } = await openSource(session, files, [], size);
  const labelled = fileColumns?.find(({ role }) => role === "label");
  if (fileColumns && labelled?.name === (label ?? labelled?.name)) return { columns: fileColumns, missing: [] };
  const names = [...types.keys()].slice(0, 30).join(", ");
  if (label === undefined) {
    const rule = `is required: name the column of ${file} to predict: ${names}`;
    throw new InvalidInputError("no schema can be suggested", [{ path: "--label", rule }]);
  }
  const isRead = (name: string): boolean => name === label || problemOfType(types.get(name)!) === undefined;
  const columns = [...types.keys()]
    .filter(isRead)
    .map((name): ColumnSchema => ({ name, type: "string", role: "feature" }));
  if (!types.has(label)) {
    const rule = `must be a column of ${file}: ${names}`;
    throw new InvalidInputError("no schema can be suggested", [{ path: "--label", value: label, rule }]);
  }
  const source = await openSource(session, files, columns, size);
  const joined = await joinedColumns(session, files);
  const inferred: InferredColumn[] = [];
  for (const name of types.keys()) {
    if (!isRead(name)) {
      const note = `is not read: it ${problemOfType(types.get(name)!)}`;
      inferred.push({ name, type: "string", role: "ignore", omitted: true, note });
      continue;
    }
    const count = (missing: readonly string[]): Promise<Counts> =>
      source.reading(() => countsOf(session, source.table, { name, missing }, source.types.get(name)!));
    await source.reading(() => groupValues(session, source.table, name));
    const counts = await count(tokens ?? knownTokens);
    if (counts.rows === 0) {
      throw new InvalidInputError("no schema can be suggested", [{ path: file, rule: "must have rows" }]);
    }
    const missing = tokens ?? (areMissing(counts, name === label) ? counts.tokens : []);
    // A token that is no missing value is a value of its column.
    const kept = counts.tokens.every((token) => missing.includes(token)) ? counts : await count(missing);
    const rest = kept.digitless.length > 0 ? await count([...missing, ...kept.digitless]) : undefined;
    const suggested = name === label ? labelOf(name, kept) : featureOf(name, kept, rest);
    const typed = joined.features.has(name) ? withStoredType(suggested, source.types.get(name)!) : suggested;
    const column = joined.keys.has(name) && name !== label ? ignoredKey(typed) : typed;
    inferred.push(tokens === undefined ? withTokens(column, counts.tokens, missing) : column);
  }
  return { columns: inferred, missing: tokens ?? [] };
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

/** Whether the tokens of a column are missing values: without them the column is no text, or a feature without a value. */
function areMissing({ tokens, ...counts }: Counts, isLabel: boolean): boolean {
  if (counts.present === 0) return tokens.length === 1 && !isLabel;
  const type = typeOf(counts);
  return type !== undefined && (type !== "string" || counts.code !== undefined);
}

/** Gives a column its missing tokens, and a remark on tokens of a text that may be missing values. */
function withTokens(column: InferredColumn, seen: readonly string[], missing: readonly string[]): InferredColumn {
  if (missing.length > 0) return column.omitted || column.shape ? column : { ...column, missing: [...missing] };
  if (column.type !== "string" || column.role !== "feature" || column.note !== undefined || seen.length === 0)
    return column;
  return {
    ...column,
    note: `${listTokens(seen)} is text; with missing: [${listTokens(seen)}], nullable: true it is missing`,
  };
}

function labelOf(name: string, counts: Counts): InferredColumn {
  const { rows, distinct, nested, shape, doubt } = counts;
  const refused = (rule: string) =>
    new InvalidInputError("no schema can be suggested", [{ path: "--label", value: name, rule }]);
  // A date is no label, and many different numbers are a quantity even with zeros in front.
  const isQuantity = counts.code !== undefined && distinct > maxIntClasses && 2 * distinct > rows;
  const { code: _, ...numbers } = counts;
  const type = typeOf({
    ...(isQuantity ? numbers : counts),
    formats: [],
    fitting: { ...counts.fitting, timestamp: -1 },
  });
  if (type === undefined || shape !== undefined || nested > 0) {
    throw refused(`must have one class or number in each row, and has lists or objects: ${oneClass}`);
  }
  if (type === "string" && distinct > maxIntClasses && 2 * distinct > rows) {
    throw refused(
      `must have values that many rows share, and has ${distinct} different texts in ${rows} rows, each a class of its own: name the column of the classes, or of the number to predict`,
    );
  }
  const [number, other] = counts.numberFormats;
  const format = number === undefined ? {} : { format: number.format };
  const absent = rows - valuesOf(type, counts);
  const missing = absent > 0 ? `missing in ${absent} rows, which a push refuses` : undefined;
  if ((type === "int" || isQuantity) && distinct > maxIntClasses) {
    const note = `${distinct} values: predicted as a number; with type ${counts.code ? "string" : type} they are classes`;
    return { name, type: "float", role: "label", ...format, note: missing ?? note };
  }
  const text = type === "string" ? (counts.code ?? mixedNumbers(counts)) : doubt;
  const note = missing ?? (number && otherFormat(number, other)) ?? text;
  return { name, type, role: "label", ...format, note };
}

function valuesOf(type: ColumnSchema["type"] | undefined, { present, nan }: Counts): number {
  return type === "float" ? present - nan : present;
}

/** Remarks that another number format gives other numbers. */
function otherFormat(taken: NumberFormat, other: NumberFormat | undefined): string | undefined {
  if (other === undefined) return undefined;
  return `${other.format} fits as well: check which character of ${taken.format} begins the decimals`;
}

/** Describes a column of text whose values are numbers that no format reads. */
function mixedNumbers({ mixedNumbers: examples }: Counts): string | undefined {
  if (examples === undefined) return undefined;
  const [one, other] = examples.map((value) => JSON.stringify(value));
  return `numbers that are written in different ways (${one} and ${other}): write them alike, and set type float and a format`;
}

/**
 * Describes a column of text whose values nearly all fit another type; `undefined` for other columns.
 *
 * @param rest counts of the values without the texts of `digitless`
 */
function nearType(counts: Counts, rest: Counts | undefined): string | undefined {
  const { present, fitting, unfit, mixed, digitless } = counts;
  if (mixed) {
    const [one, other] = mixed.map((value) => JSON.stringify(value));
    return `dates of different formats (${one} and ${other}): write them alike, and set type timestamp`;
  }
  const type = nearTypes.find((one) => fitting[one] >= nearShare * present && fitting[one] < present);
  const advice = (count: number, near: string, other: string): string =>
    `${count} of ${present} values are ${near}, and ${other} is not: correct it, or add it to missing, and set type ${near}`;
  if (type !== undefined && unfit[type] !== undefined) return advice(fitting[type], type, JSON.stringify(unfit[type]));
  const restType = rest && nearTypes.find((one) => one === typeOf(rest));
  if (restType === undefined) return mixedNumbers(counts);
  const format = rest?.numberFormats[0]?.format ?? rest?.formats[0];
  const setting = format === undefined ? "" : `, format: ${JSON.stringify(format)}`;
  return advice(rest!.present, restType, listTokens(digitless)) + setting;
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
  const near = type === "string" && counts.code === undefined ? nearType(counts, rest) : undefined;
  const isText = type === "string";
  if (isText && (unique || (distinct > valueLimit && 2 * distinct > rows))) {
    const texts = unique ? "every row has a different text" : `${distinct} different texts`;
    if (near === undefined && 2 * counts.wordy >= values)
      return { name, type: "string", role: "feature", ...missing, note: `${texts}: a plan with ngrams reads them` };
    return ignored(near ?? [unique ? `${texts}, like an id` : texts, counts.code].filter(Boolean).join("; "));
  }
  const note = near ?? counts.code ?? counts.doubt;
  if (note !== undefined) return { name, type, role: "feature", ...missing, note };
  if (type === "int" && unique && consecutive) return ignored("the numbers of rows, like an id", type);
  if (type === "int" && unique && (/(^|[^a-z])id$/i.test(name) || /[a-z]I[Dd]$/.test(name)))
    return ignored("every row has a different id", type);
  const [number, otherNumber] = counts.numberFormats;
  if (number !== undefined) {
    const note = otherFormat(number, otherNumber);
    return { name, type, role: "feature", ...missing, format: number.format, note };
  }
  const [format, other] = formats;
  if (format !== undefined) {
    const note = other === undefined ? {} : { note: `${other} fits as well: check which comes first, day or month` };
    return { name, type, role: "feature", ...missing, format, ...note };
  }
  return { name, type, role: "feature", ...missing };
}
