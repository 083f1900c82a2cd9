import { InvalidManifestError } from "./errors";
import { type SplitName, splitNames } from "./shapes";

/** Encodes ascending row numbers as unsigned 32-bit little-endian. */
export function encodeSplitIndex(rows: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(rows.length * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < rows.length; i += 1) view.setUint32(i * 4, rows[i]!, true);
  return bytes;
}

export function decodeSplitIndex(bytes: Uint8Array): Uint32Array {
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
 * @throws InvalidManifestError unless the indexes hold every row exactly once, ascending
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
  if (reasons.length > 0) throw new InvalidManifestError(dataset, reasons);
  return splitOf;
}
