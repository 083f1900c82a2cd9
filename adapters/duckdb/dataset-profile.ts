import * as fs from "node:fs";
import * as path from "node:path";
import { type Category, type DatasetProfile, exactProfileRows } from "../../core/datasets/profile";
import { type DatasetManifest, type SplitName, splitNames } from "../../core/datasets/shapes";
import { categoryAt } from "../../core/features/values";
import { compareCategories } from "../../core/row-values";
import { hashRows, profileColumns } from "./profile";
import { readColumns } from "./row-reader";
import type { DuckDbSession } from "./session";

/** Rows whose hashes are compared at a time: 8 bytes each. */
const defaultRangeRows = 2 ** 24;
/** Hashes of a range and split that are written to disk at a time. */
const bufferedHashes = 8_192;

/**
 * Counts rows that repeat others, from a hash of each row: 8 bytes for each row and no table of seen rows. The hashes of
 * many rows are in files by their first bits, so that equal ones are compared. With 53-bit hashes, a collision among three
 * million different rows has a probability of one in two thousand.
 */
export class RepeatedRows {
  private readonly splitOf: Uint8Array;
  private readonly ranges: readonly (readonly HashList[])[];
  private filled = 0;

  /**
   * @param splitOf index into `splitNames` of each row
   * @param directory where files may be
   */
  constructor(splitOf: Uint8Array, directory: string, maxRangeRows = defaultRangeRows) {
    this.splitOf = splitOf;
    const count = Math.max(1, Math.ceil(splitOf.length / maxRangeRows));
    const rows = splitNames.map(() => 0);
    for (const split of splitOf) rows[split]! += 1;
    this.ranges = Array.from({ length: count }, (_, range) =>
      splitNames.map(
        (split, index) =>
          new HashList(count === 1 ? rows[index]! : bufferedHashes, path.join(directory, `hashes-${range}-${split}`)),
      ),
    );
  }

  /** Adds the hashes of the next rows, in row order: whole numbers below 2⁵³. */
  add(hashes: ArrayLike<number>): void {
    const width = 2 ** 53 / this.ranges.length;
    for (let i = 0; i < hashes.length; i += 1) {
      const hash = hashes[i]!;
      this.ranges[Math.floor(hash / width)]![this.splitOf[this.filled]!]!.add(hash);
      this.filled += 1;
    }
  }

  /**
   * Returns the share of rows that repeat an earlier row, and the share of test rows that are also training rows. Call it
   * once, after all rows are added.
   */
  finish(): { readonly duplicateShare: number; readonly leakedShare: number } {
    let [repeats, leaked, testRows] = [0, 0, 0];
    for (const lists of this.ranges) {
      const bySplit = lists.map((list) => list.take().sort());
      repeats += repeatsIn(bySplit);
      const [train, , test] = bySplit as [Float64Array, Float64Array, Float64Array];
      testRows += test.length;
      let at = 0;
      for (const hash of test) {
        while (at < train.length && train[at]! < hash) at += 1;
        if (train[at] === hash) leaked += 1;
      }
    }
    return {
      duplicateShare: this.filled === 0 ? 0 : repeats / this.filled,
      leakedShare: testRows === 0 ? 0 : leaked / testRows,
    };
  }
}

/** Returns how many numbers of ascending lists equal an earlier one. */
function repeatsIn(lists: readonly Float64Array[]): number {
  const at = lists.map(() => 0);
  let repeats = 0;
  for (let previous = -1; ; ) {
    let [least, next] = [Number.POSITIVE_INFINITY, -1];
    for (let index = 0; index < lists.length; index += 1) {
      const value = lists[index]![at[index]!];
      if (value !== undefined && value < least) [least, next] = [value, index];
    }
    if (next < 0) return repeats;
    if (least === previous) repeats += 1;
    previous = least;
    at[next]! += 1;
  }
}

/** Numbers of which a part may be in a file. */
class HashList {
  private readonly buffer: Float64Array<ArrayBuffer>;
  private readonly file: string;
  private buffered = 0;
  private stored = 0;

  constructor(capacity: number, file: string) {
    this.buffer = new Float64Array(capacity);
    this.file = file;
  }

  add(hash: number): void {
    if (this.buffered === this.buffer.length) {
      fs.appendFileSync(this.file, new Uint8Array(this.buffer.buffer));
      this.stored += this.buffered;
      this.buffered = 0;
    }
    this.buffer[this.buffered] = hash;
    this.buffered += 1;
  }

  /** Returns all numbers, and removes the file. */
  take(): Float64Array {
    if (this.stored === 0) return this.buffer.subarray(0, this.buffered);
    const all = new Float64Array(this.stored + this.buffered);
    const bytes = fs.readFileSync(this.file);
    new Uint8Array(all.buffer).set(bytes);
    fs.rmSync(this.file);
    all.set(this.buffer.subarray(0, this.buffered), this.stored);
    return all;
  }
}

type ProfiledVersion = Pick<DatasetManifest, "name" | "version" | "digest" | "rowCount" | "schema">;

/**
 * Profiles a version's rows: statistics by column, classes by split, and duplicate rows.
 *
 * @param splitOf index into `splitNames` of each row
 */
export async function profileDataset(
  session: DuckDbSession,
  table: string,
  manifest: ProfiledVersion,
  splitOf: Uint8Array,
): Promise<DatasetProfile> {
  const { name, version, digest, rowCount, schema } = manifest;
  const repeated = new RepeatedRows(splitOf, session.directory);
  for await (const hashes of hashRows(session, table, schema)) repeated.add(hashes);
  const classes = await classesOf(session, table, manifest, splitOf);
  return {
    dataset: { name, version, digest },
    rowCount,
    exact: rowCount <= exactProfileRows,
    columns: await profileColumns(session, table, schema, rowCount),
    ...(classes ? { classes } : {}),
    ...repeated.finish(),
  };
}

/** Returns the rows of each class by split; `undefined` if the label has no classes. */
export async function classesOf(
  session: DuckDbSession,
  table: string,
  manifest: Pick<DatasetManifest, "schema">,
  splitOf: Uint8Array,
): Promise<DatasetProfile["classes"]> {
  const label = manifest.schema.find(({ role }) => role === "label");
  if (label === undefined || label.type === "float") return undefined;
  const counts = new Map<Category, Record<SplitName, number>>();
  for await (const { rows, firstRow, columns } of readColumns(session, table, [label])) {
    for (let row = 0; row < rows; row += 1) {
      const value = categoryAt(columns[label.name]!, row, label.type)!;
      const count = counts.get(value) ?? { train: 0, validation: 0, test: 0 };
      counts.set(value, count);
      count[splitNames[splitOf[firstRow + row]!]!] += 1;
    }
  }
  return [...counts].map(([value, rows]) => ({ value, rows })).sort((a, b) => compareCategories(a.value, b.value));
}
