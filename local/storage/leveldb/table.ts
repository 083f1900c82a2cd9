import { ByteReader, FormatError } from "./byte-reader";
import { crc32c, masked } from "./crc32c";
import type { TableMeta } from "./manifest";
import { decompressSnappy } from "./snappy";
import type { Entry } from "./write-batch";

/* LevelDB's table format (doc/table_format.md): data blocks, filter block, metaindex block, index block, footer. */

const footerBytes = 48;
const trailerBytes = 5;
const magic = Buffer.from("57fb808b247547db", "hex");

interface Handle {
  readonly offset: number;
  readonly size: number;
}

interface Pair {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface TableFault {
  readonly offset: number;
  readonly reason: string;
  /** The user keys on both sides of unreadable entries. Undefined means any key of the table. */
  readonly between?: readonly [Buffer | undefined, Buffer];
  /** The readable entries of a block with a wrong checksum. None of them is trustworthy. */
  readonly doubtful: readonly Entry[];
}

/** Reads a whole table. Every byte is either covered by a checksum or compared with its expected value. */
export function readTable(
  bytes: Buffer,
  meta: Pick<TableMeta, "size"> & Partial<TableMeta>,
  visit: (entry: Entry) => void,
): readonly TableFault[] {
  const faults: TableFault[] = [];
  const fault = (offset: number, reason: string, more: Partial<TableFault> = {}): void => {
    faults.push({ offset, reason, doubtful: [], ...more });
  };
  let index: readonly Pair[];
  let dataEnd: number;
  try {
    if (bytes.length !== meta.size) fault(bytes.length, `it has ${bytes.length} bytes instead of ${meta.size}`);
    const handles = readFooter(bytes);
    index = readPairs(readBlock(bytes, handles.index));
    dataEnd = checkLayout(bytes, handles);
  } catch (error) {
    fault(0, reasonOf(error));
    return faults;
  }
  let expected = 0;
  let before: Buffer | undefined;
  let firstKey: Buffer | undefined;
  let lastKey: Buffer | undefined;
  for (const { key: separator, value } of index) {
    const between = [before, userKeyOf(separator)] as const;
    before = between[1];
    let handle: Handle | undefined;
    try {
      handle = readHandle(new ByteReader(value));
      if (handle.offset !== expected) throw new FormatError("its blocks do not follow each other");
      expected = handle.offset + handle.size + trailerBytes;
      for (const pair of readPairs(readBlock(bytes, handle))) {
        firstKey ??= pair.key;
        lastKey = pair.key;
        visit(toEntry(pair));
      }
    } catch (error) {
      fault(handle?.offset ?? expected, reasonOf(error), { between, doubtful: handle ? doubtful(bytes, handle) : [] });
    }
  }
  if (faults.length > 0) return faults;
  if (expected !== dataEnd) fault(expected, "its blocks do not follow each other");
  const foreign =
    (meta.smallest && !firstKey?.equals(meta.smallest)) || (meta.largest && !lastKey?.equals(meta.largest));
  if (foreign) fault(0, "it does not have the keys that the manifest has for it");
  return faults;
}

function readFooter(bytes: Buffer): { readonly metaindex: Handle; readonly index: Handle } {
  if (bytes.length < footerBytes) throw new FormatError("it is too short for a table");
  const footer = bytes.subarray(bytes.length - footerBytes);
  if (!footer.subarray(-magic.length).equals(magic)) throw new FormatError("it does not end as a table ends");
  const reader = new ByteReader(footer, 0, footerBytes - magic.length);
  const handles = { metaindex: readHandle(reader), index: readHandle(reader) };
  if (footer.subarray(reader.at, -magic.length).some((byte) => byte !== 0)) {
    throw new FormatError("its footer's padding is not zero");
  }
  return handles;
}

/** Checks the layout after the data blocks, and returns the end of the data blocks. */
function checkLayout(bytes: Buffer, { metaindex, index }: { metaindex: Handle; index: Handle }): number {
  const meta = readPairs(readBlock(bytes, metaindex)).map(({ value }) => readHandle(new ByteReader(value)));
  for (const handle of meta) readBlock(bytes, handle);
  const blocks = [...meta, metaindex, index].sort((a, b) => a.offset - b.offset);
  let end = blocks[0]!.offset;
  const start = end;
  for (const { offset, size } of blocks) {
    if (offset !== end) throw new FormatError("its blocks do not follow each other");
    end = offset + size + trailerBytes;
  }
  if (end !== bytes.length - footerBytes) throw new FormatError("its blocks do not reach its footer");
  return start;
}

function readHandle(reader: ByteReader): Handle {
  return { offset: reader.varint(), size: reader.varint() };
}

function readBlock(bytes: Buffer, { offset, size }: Handle): Buffer {
  const end = offset + size + trailerBytes;
  if (end > bytes.length) throw new FormatError("a block lies beyond its end");
  if (masked(crc32c(bytes.subarray(offset, end - 4))) !== bytes.readUInt32LE(end - 4)) {
    throw new FormatError(`the block at byte ${offset} fails its checksum`);
  }
  return uncompressed(bytes, { offset, size });
}

function uncompressed(bytes: Buffer, { offset, size }: Handle): Buffer {
  const content = bytes.subarray(offset, offset + size);
  const compression = bytes[offset + size];
  if (compression === 0) return content;
  if (compression === 1) return decompressSnappy(content);
  throw new FormatError(`the block at byte ${offset} is compressed in an unknown way`);
}

function readPairs(block: Buffer, collected: Pair[] = []): Pair[] {
  if (block.length < 4) throw new FormatError("a block is too short");
  const restarts = block.readUInt32LE(block.length - 4);
  const end = block.length - 4 * (restarts + 1);
  if (end < 0) throw new FormatError("a block is too short");
  const reader = new ByteReader(block, 0, end);
  let key: Buffer = Buffer.alloc(0);
  while (!reader.done) {
    const [shared, unshared, length] = [reader.varint(), reader.varint(), reader.varint()];
    if (shared > key.length) throw new FormatError("a key's beginning is not there");
    const rest = reader.take(unshared);
    key = shared === 0 ? rest : Buffer.concat([key.subarray(0, shared), rest]);
    collected.push({ key, value: reader.take(length) });
  }
  return collected;
}

function toEntry({ key, value }: Pair): Entry {
  if (key.length < 8) throw new FormatError("a key is too short");
  const kind = key[key.length - 8]!;
  if (kind > 1) throw new FormatError(`${kind} is no kind of an entry`);
  const sequence = key.readUIntLE(key.length - 7, 6) + key[key.length - 1]! * 2 ** 48;
  return { key: userKeyOf(key), sequence, value: kind === 1 ? value : undefined };
}

function userKeyOf(internal: Buffer): Buffer {
  return internal.subarray(0, Math.max(0, internal.length - 8));
}

function doubtful(bytes: Buffer, handle: Handle): readonly Entry[] {
  const pairs: Pair[] = [];
  try {
    readPairs(uncompressed(bytes, handle), pairs);
  } catch {
    // Entries before the unreadable one may be intact.
  }
  return pairs.flatMap((pair) => {
    try {
      return [toEntry(pair)];
    } catch {
      return [];
    }
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof FormatError) return error.message;
  throw error;
}
