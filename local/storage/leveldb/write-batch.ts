import { ByteReader, FormatError } from "./byte-reader";

/** One version of a key. `value` is undefined if the key was deleted. */
export interface Entry {
  readonly key: Buffer;
  readonly sequence: number;
  readonly value: Buffer | undefined;
}

export interface WriteBatch {
  /** The sequence number of its first entry. */
  readonly sequence: number;
  readonly entries: readonly Entry[];
}

/** Reads a record of a write-ahead log: sequence number, number of entries, entries. @throws FormatError */
export function readWriteBatch(data: Buffer, entries: Entry[] = []): WriteBatch {
  const reader = new ByteReader(data);
  const sequence = reader.fixed64();
  const count = reader.fixed32();
  while (!reader.done) {
    const tag = reader.byte();
    if (tag > 1) throw new FormatError(`${tag} is no kind of change`);
    const key = reader.slice();
    entries.push({ key, sequence: sequence + entries.length, value: tag === 1 ? reader.slice() : undefined });
  }
  if (entries.length !== count) throw new FormatError(`it has ${entries.length} changes instead of ${count}`);
  return { sequence, entries };
}

/** Reads the entries of a damaged record as far as they can be parsed. None of them is trustworthy. */
export function readDamagedBatch(data: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  try {
    readWriteBatch(data, entries);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return entries;
}
