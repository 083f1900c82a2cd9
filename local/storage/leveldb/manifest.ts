import { ByteReader, FormatError } from "./byte-reader";
import type { LogRecord } from "./log-file";

/** A live table in the manifest. Keys are internal: user key, then sequence number and kind. */
export interface TableMeta {
  readonly number: number;
  readonly level: number;
  readonly size: number;
  readonly smallest: Buffer;
  readonly largest: Buffer;
}

/** The state of a database in its manifest. */
export interface Version {
  readonly logNumber: number;
  readonly nextFileNumber: number;
  readonly lastSequence: number;
  readonly tables: ReadonlyMap<number, TableMeta>;
}

const comparator = "leveldb.BytewiseComparator";

/** Applies a manifest's edits in order (db/version_edit.cc). @throws FormatError */
export function readManifest(records: readonly LogRecord[]): Version {
  let logNumber: number | undefined;
  let nextFileNumber: number | undefined;
  let lastSequence: number | undefined;
  const tables = new Map<number, TableMeta>();
  for (const { data } of records) {
    const reader = new ByteReader(data);
    while (!reader.done) {
      const tag = reader.varint();
      if (tag === 1) {
        const name = reader.slice().toString("latin1");
        if (name !== comparator) throw new FormatError(`its comparator is ${JSON.stringify(name)}`);
      } else if (tag === 2) logNumber = reader.varint();
      else if (tag === 3) nextFileNumber = reader.varint();
      else if (tag === 4) lastSequence = reader.varint();
      else if (tag === 5) {
        readLevel(reader);
        reader.slice();
      } else if (tag === 6) {
        readLevel(reader);
        const number = reader.varint();
        if (!tables.delete(number)) throw new FormatError(`it removes table ${number}, which it does not have`);
      } else if (tag === 7) {
        const level = readLevel(reader);
        const [number, size] = [reader.varint(), reader.varint()];
        tables.set(number, { number, level, size, smallest: reader.slice(), largest: reader.slice() });
      } else if (tag === 9) reader.varint();
      else throw new FormatError(`${tag} is no field of an edit`);
    }
  }
  if (logNumber === undefined || nextFileNumber === undefined || lastSequence === undefined) {
    throw new FormatError("it does not say which log, file number and sequence number are current");
  }
  return { logNumber, nextFileNumber, lastSequence, tables };
}

function readLevel(reader: ByteReader): number {
  const level = reader.varint();
  if (level > 6) throw new FormatError(`${level} is no level`);
  return level;
}
