import { isUtf8 } from "node:buffer";
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  DOUBLE,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  FLOAT,
  LIST,
  TIMESTAMP,
  TIMESTAMPTZ,
  UBIGINT,
  VARCHAR,
} from "@duckdb/node-api";
import { type Data, DataType, type Dictionary, Precision, type Timestamp, TimeUnit, Vector } from "apache-arrow";
import { maxLevels } from "../tables";

/** A column of Arrow as one of DuckDB. */
export interface ArrowColumn {
  readonly type: DuckDBType;
  /** Returns a function that gives the value of a row of a batch. @throws Error if the column is damaged */
  open(vector: Vector): (row: number) => DuckDBValue;
}

const dayMs = 86_400_000;
const maxMicros = 2n ** 63n - 1n;
const empty = new DuckDBBlobValue(new Uint8Array(0));

/** Returns the column of a type. Values of other types become empty blobs, which no schema accepts. */
export function columnOf(type: DataType): ArrowColumn {
  if (DataType.isDictionary(type)) return dictionaryOf(type);
  if (DataType.isTimestamp(type)) return timestampOf(type);
  if (DataType.isDate(type)) {
    const toDate = (value: unknown) => new DuckDBDateValue(Math.floor(Number(value) / dayMs));
    return { type: DATE, open: (vector) => present(vector, toDate) };
  }
  if (DataType.isDecimal(type)) {
    // A decimal may have more digits than a number. Text keeps them all.
    return {
      type: VARCHAR,
      open: (vector) => present(vector, (words) => decimalText(words as Uint32Array, type.scale)),
    };
  }
  if (isList(type) && isNumeric(leafOf(type, maxLevels))) return { type: listType(type), open: openList };
  const plain = plainType(type);
  if (plain === undefined) return { type: BLOB, open: (vector) => present(vector, () => empty) };
  return { type: plain, open: (vector) => present(vector, (value) => value as DuckDBValue) };
}

/** Returns DuckDB's type for values that need no conversion. */
function plainType(type: DataType): DuckDBType | undefined {
  if (DataType.isNull(type) || DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type))
    return VARCHAR;
  if (DataType.isBool(type)) return BOOLEAN;
  if (DataType.isInt(type)) return type.bitWidth === 64 && !type.isSigned ? UBIGINT : BIGINT;
  if (!DataType.isFloat(type)) return undefined;
  return type.precision === Precision.DOUBLE ? DOUBLE : FLOAT;
}

/** Reads values by the vector, and refuses the absent ones of a damaged batch. */
function present(vector: Vector, convert: (value: unknown) => DuckDBValue): (row: number) => DuckDBValue {
  for (const data of vector.data) assertComplete(data);
  const isNarrow = vector.type !== null && DataType.isInt(vector.type) && vector.type.bitWidth < 64;
  return (row) => {
    const value: unknown = vector.get(row);
    if (value === null) return null;
    if (value === undefined) throw new Error("a value is absent");
    return isNarrow ? BigInt(value as number) : convert(value);
  };
}

/** Checks that the buffers have a value for each row, because absent ones are read as zero or as other texts. */
function assertComplete(data: Data): void {
  const { type, length, values, valueOffsets } = data;
  const count = (values as ArrayLike<unknown> | undefined)?.length ?? 0;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) {
    if (length > 0) assertTexts(values as unknown as Uint8Array, valueOffsets as unknown as Offsets, length);
  } else if (DataType.isBool(type)) {
    if (count * 8 < length) throw new Error("values are absent");
  } else if (DataType.isInt(type) || DataType.isFloat(type) || DataType.isTimestamp(type) || DataType.isDate(type)) {
    if (count < length) throw new Error("values are absent");
  }
}

type Offsets = ArrayLike<number | bigint>;

function assertTexts(bytes: Uint8Array, offsets: Offsets, length: number): void {
  if (offsets.length <= length) throw new Error("offsets of texts are absent");
  let before = offsets[0]!;
  for (let i = 0; i <= length; i += 1) {
    const offset = offsets[i]!;
    if (offset < before || offset > bytes.length) throw new Error("a text lies outside of its buffer");
    // A text does not begin within a character.
    if ((bytes[Number(offset)]! & 0xc0) === 0x80 && i < length) throw new Error("a text is not UTF-8");
    before = offset;
  }
  if (!isUtf8(bytes.subarray(Number(offsets[0]), Number(offsets[length])))) throw new Error("a text is not UTF-8");
}

function dictionaryOf({ dictionary }: Dictionary): ArrowColumn {
  const plain = plainType(dictionary);
  if (plain === undefined) return { type: BLOB, open: (vector) => present(vector, () => empty) };
  const narrow = DataType.isInt(dictionary) && dictionary.bitWidth < 64;
  return {
    type: plain,
    open: (vector) => present(vector, (value) => (narrow ? BigInt(value as number) : (value as DuckDBValue))),
  };
}

function timestampOf({ unit, timezone }: Timestamp): ArrowColumn {
  const factor = { [TimeUnit.SECOND]: 1_000_000n, [TimeUnit.MILLISECOND]: 1_000n }[unit as 0 | 1] ?? 1n;
  const Value = timezone ? DuckDBTimestampTZValue : DuckDBTimestampValue;
  return {
    type: timezone ? TIMESTAMPTZ : TIMESTAMP,
    open(vector) {
      const [data] = vector.data;
      if (!data) return () => null;
      assertComplete(data);
      const values = data.values as unknown as BigInt64Array;
      return (row) => {
        if (!data.getValid(row)) return null;
        // Rounded towards zero, as DuckDB does with Parquet's.
        const micros = unit === TimeUnit.NANOSECOND ? values[row]! / 1_000n : values[row]! * factor;
        if (micros > maxMicros || micros < -maxMicros) throw new Error("a timestamp is out of range");
        return new Value(micros);
      };
    },
  };
}

/** Formats a two's complement integer of 32-bit words, least significant first: `-12.50`. */
function decimalText(words: Uint32Array, scale: number): string {
  const bits = words.length * 32;
  const unsigned = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const value = BigInt.asIntN(bits, unsigned);
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  const text = scale > 0 ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
  return value < 0n ? `-${text}` : text;
}

function isList(type: DataType): boolean {
  return DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type);
}

/** Returns the type of the elements of nested lists. Below `levels` it may be a list. */
function leafOf(type: DataType, levels: number): DataType {
  return isList(type) && levels > 0 ? leafOf(type.children[0]!.type, levels - 1) : type;
}

function isNumeric(type: DataType): boolean {
  return DataType.isInt(type) || DataType.isFloat(type);
}

/** Lists of lists stay nested, so that a suggested schema has their shape. */
function listType(type: DataType): DuckDBType {
  return isList(type) ? LIST(listType(type.children[0]!.type)) : DOUBLE;
}

function openList(vector: Vector): (row: number) => DuckDBValue {
  const [data] = vector.data;
  return data ? readerOf(data) : () => null;
}

/** Returns a function that gives the number or list of an element. */
function readerOf(data: Data): (element: number) => DuckDBValue {
  if (!isList(data.type)) {
    assertComplete(data);
    const leaf = new Vector([data]);
    return (element) => {
      const value: unknown = leaf.get(element);
      if (value === undefined) throw new Error("a number of a list is absent");
      return value === null ? null : Number(value);
    };
  }
  const child = data.children[0] as Data;
  const read = readerOf(child);
  const absent = absentOf(child.type);
  const { type } = data;
  const bound = DataType.isFixedSizeList(type)
    ? (i: number) => i * type.listSize
    : (i: number) => Number((data.valueOffsets as unknown as Offsets)[i]);
  return (element) => {
    if (!data.getValid(element)) return null;
    const [first, last] = [bound(element), bound(element + 1)];
    if (!(first >= 0 && first <= last && last <= child.length)) throw new Error("a list lies outside of its values");
    const items: DuckDBValue[] = [];
    for (let i = first; i < last; i += 1) items.push(read(i) ?? absent);
    return new DuckDBListValue(items);
  };
}

/** An absent list within a list counts as one absent number: DuckDB would omit it. */
function absentOf(type: DataType): DuckDBValue {
  return isList(type) ? new DuckDBListValue([absentOf(type.children[0]!.type)]) : null;
}
