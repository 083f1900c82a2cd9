import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { invalidManifest } from "./errors";
import { type DatasetManifest, type SplitName, splitNames } from "./shapes";

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Encodes ascending row numbers as unsigned 32-bit little-endian. */
export function encodeSplitIndex(rows: Uint32Array): Uint8Array {
  if (isLittleEndian) return new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength).slice();
  const bytes = new Uint8Array(rows.length * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < rows.length; i += 1) view.setUint32(i * 4, rows[i]!, true);
  return bytes;
}

/** Decodes row numbers; on most machines they share the memory of the bytes. */
export function decodeSplitIndex(bytes: Uint8Array): Uint32Array {
  if (isLittleEndian && bytes.byteOffset % 4 === 0) {
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rows = new Uint32Array(bytes.byteLength >> 2);
  for (let i = 0; i < rows.length; i += 1) rows[i] = view.getUint32(i * 4, true);
  return rows;
}

/** Collects the rows of each split while they are assigned; 4 bytes for each row. */
export class SplitIndexBuilder {
  private readonly rowsBySplit: Record<SplitName, Uint32Array> = {
    train: new Uint32Array(1024),
    validation: new Uint32Array(1024),
    test: new Uint32Array(1024),
  };
  private readonly counts: Record<SplitName, number> = { train: 0, validation: 0, test: 0 };

  add(split: SplitName, row: number): void {
    const count = this.counts[split];
    let rows = this.rowsBySplit[split];
    if (count === rows.length) {
      const grown = new Uint32Array(count * 2);
      grown.set(rows);
      this.rowsBySplit[split] = rows = grown;
    }
    rows[count] = row;
    this.counts[split] = count + 1;
  }

  rows(split: SplitName): Uint32Array {
    return this.rowsBySplit[split].subarray(0, this.counts[split]);
  }
}

/**
 * Returns the split of every row, as an index into `splitNames`.
 *
 * @throws INVALID_DATASET_MANIFEST unless the indexes hold every row exactly once, ascending
 */
export function splitOfRows(
  dataset: string,
  rowCount: number,
  indexes: Readonly<Record<SplitName, Uint32Array>>,
): Uint8Array {
  const unassigned = 255;
  const splitOf = new Uint8Array(rowCount).fill(unassigned);
  const reasons: string[] = [];
  for (const [code, split] of splitNames.entries()) {
    let previous = -1;
    for (const row of indexes[split]) {
      if (row >= rowCount || row <= previous || splitOf[row] !== unassigned) {
        reasons.push(
          `split ${split} contains row ${row}, which is ${row >= rowCount ? `after the last row, ${rowCount - 1}` : row <= previous ? "out of order" : "also in another split"}`,
        );
        break;
      }
      splitOf[row] = code;
      previous = row;
    }
  }
  const missing = reasons.length === 0 ? splitOf.indexOf(unassigned) : -1;
  if (missing >= 0) reasons.push(`row ${missing} is in no split`);
  if (reasons.length > 0) throw invalidManifest(dataset, reasons);
  return splitOf;
}

/** Rows of an index that a search reads at a time. */
const windowRows = 16_384;

/**
 * Returns the split of some of a version's rows, as an index into `splitNames`. Reads only the parts of the index files
 * that have these rows. Damage of a file is found, because each row must be in exactly one of them.
 *
 * @throws INVALID_DATASET_MANIFEST
 */
export async function splitOfRange(
  { name, split: { indexes } }: Pick<DatasetManifest, "name" | "split">,
  objects: Pick<ObjectStore, "getRange">,
  firstRow: number,
  rows: number,
): Promise<Uint8Array> {
  const read = async (split: SplitName): Promise<Uint32Array> => {
    const key = objectKeys.content(indexes[split].sha256);
    const at = async (from: number, count: number): Promise<Uint32Array> =>
      decodeSplitIndex(await objects.getRange(key, from * 4, count * 4));
    const [from, to] = await Promise.all(
      [firstRow, firstRow + rows].map((row) => placeOf(row, indexes[split].rows, at)),
    );
    return (await at(from!, to! - from!)).map((row) => row - firstRow);
  };
  const [train, validation, test] = await Promise.all(splitNames.map(read));
  return splitOfRows(name, rows, { train: train!, validation: validation!, test: test! });
}

/** Returns how many of the `total` ascending row numbers of an index are less than `row`. */
async function placeOf(
  row: number,
  total: number,
  read: (from: number, count: number) => Promise<Uint32Array>,
): Promise<number> {
  let low = 0;
  let high = total;
  while (low < high) {
    const from = Math.max(low, Math.min(high - 1, ((low + high) >>> 1) - (windowRows >>> 1)));
    const window = await read(from, Math.min(windowRows, high - from));
    const [first, last] = [window[0], window.at(-1)];
    // A file that ends early has no rows here; the caller finds that rows are missing.
    if (first === undefined || last === undefined) return low;
    if (first >= row) high = from;
    else if (last < row) low = from + window.length;
    else return from + window.findIndex((each) => each >= row);
  }
  return low;
}

/** Returns the index into `splitNames` of each row. */
export async function readSplits(
  manifest: DatasetManifest,
  objects: Pick<ObjectStore, "getContent">,
): Promise<Uint8Array> {
  const [train, validation, test] = await Promise.all(
    splitNames.map(async (split) => decodeSplitIndex(await objects.getContent(manifest.split.indexes[split].sha256))),
  );
  return splitOfRows(manifest.name, manifest.rowCount, { train: train!, validation: validation!, test: test! });
}
