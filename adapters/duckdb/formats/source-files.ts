import * as fs from "node:fs";
import * as path from "node:path";
import { InvalidInputError } from "../../../core/errors";
import { type DuckDbSession, quoteText } from "../session";

/** Files of rows: paths, folders, or globs such as `data/*.parquet`. */
export type DataFiles = string | readonly string[];

export type Format = "csv" | "parquet" | "json" | "sample" | "shard";

const formats: Readonly<Record<string, Format>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".parquet": "parquet",
  ".pq": "parquet",
  ".json": "json",
  ".ndjson": "json",
  ".jsonl": "json",
  ".png": "sample",
  ".jpg": "sample",
  ".jpeg": "sample",
  ".txt": "sample",
  ".tar": "shard",
  ".tgz": "shard",
};

export function formatOf(file: string): Format | undefined {
  return formats[path.extname(file.replace(/\.gz$/i, "")).toLowerCase()];
}

/** Names files in a message: `a.csv`, or `data/a.csv and 11 more files`. */
export function nameOfFiles(files: readonly string[]): string {
  const [first = "no file"] = files;
  return files.length <= 1 ? first : `${first} and ${files.length - 1} more ${files.length === 2 ? "file" : "files"}`;
}

/**
 * Returns the files in the order of their names, which is the order of their rows, and their format. A folder stands for
 * its files of a known format at any depth, except empty tables and files whose name begins with a dot or an underscore.
 *
 * @throws InvalidInputError if there are none, or of several formats
 */
export async function listFiles(
  session: DuckDbSession,
  source: DataFiles,
): Promise<{ readonly files: readonly string[]; readonly format: Format }> {
  const distinct = new Set<string>();
  for (const one of typeof source === "string" ? [source] : source) {
    for (const file of await expand(session, one)) distinct.add(file);
  }
  const files = [...distinct].sort(byCodeUnits);
  let first: { readonly file: string; readonly format: Format } | undefined;
  for (const file of files) {
    const format = formatOf(file);
    if (format === undefined) throw unusable(file, `must end in one of ${Object.keys(formats).join(", ")}`);
    if (first && first.format !== format) {
      throw unusable(
        file,
        `must have the format of ${first.file}: a version is made of files of one format; name them with a glob, such as *${path.extname(file)}`,
      );
    }
    first ??= { file, format };
  }
  if (!first) throw unusable(nameOfFiles([source].flat()), "must be at least one file");
  return { files, format: first.format };
}

async function expand(session: DuckDbSession, source: string): Promise<readonly string[]> {
  const stat = fs.statSync(source, { throwIfNoEntry: false });
  if (stat?.isFile()) {
    if (stat.size === 0) throw unusable(source, "must not be empty: it has 0 bytes");
    return [source];
  }
  if (stat?.isDirectory()) {
    const files = [...walk(source)];
    if (files.length > 0) return files;
    throw unusable(source, `must have files that end in one of ${Object.keys(formats).join(", ")}, and has none`);
  }
  if (stat !== undefined) throw unusable(source, "must be a file or a folder");
  if (!/[*?[]/.test(source)) throw unusable(source, "must exist");
  const rows = await session.rows(`SELECT file FROM glob(${quoteText(source)})`);
  const files = rows.map(({ file }) => String(file)).filter((file) => fs.statSync(file).isFile());
  if (files.length === 0) throw unusable(source, "must match at least one file");
  return files;
}

/** @param above the real paths of the folders above, because a link to one of them would make the walk endless */
function* walk(folder: string, above: readonly string[] = []): Generator<string> {
  const real = fs.realpathSync(folder);
  if (above.includes(real)) return;
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (/^[._]/.test(entry.name)) continue;
    const file = path.join(folder, entry.name);
    const target = entry.isSymbolicLink() ? fs.statSync(file, { throwIfNoEntry: false }) : entry;
    if (target?.isDirectory()) yield* walk(file, [...above, real]);
    else if (target === undefined && (formatOf(file) !== undefined || path.extname(file) === ""))
      throw unusable(file, "must exist, and is a link to nothing: correct it, or remove it");
    else if (isRead(file)) yield file;
  }
}

/** Tables without a byte are omitted: some programs write them for parts without rows. An empty image is damaged. */
function isRead(file: string): boolean {
  const format = formatOf(file);
  return format === "sample" || (format !== undefined && fs.statSync(file).size > 0);
}

/** Orders by code units, on every machine alike. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function unusable(file: string, rule: string): InvalidInputError {
  return new InvalidInputError("the data file cannot be used", [{ path: "file", value: file, rule }]);
}
