import type { DescribedColumn, DescribedRows } from "../../adapters/duckdb/describe-rows";
import type { ApiClient } from "../../client/api-client";
import { typeText } from "../../core/datasets/identity";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { download } from "../download";
import { formatNumber, printTable } from "../output";

/** Bytes of shards that are read for a description; the first shard is read in any case. */
const readBytes = 64 * 1024 * 1024;
const cellCharacters = 24;

/** Describes the first shards of a version up to 64 MiB, or all. @throws DownloadError, and DuckDB's errors */
export async function describeVersion(
  client: ApiClient,
  manifest: DatasetManifest,
  all: boolean,
): Promise<DescribedRows> {
  // DuckDB's library takes long to load: only commands that read data load it.
  const { withDuckDb } = await import("../../adapters/duckdb/workspace");
  const { fetchAllShards } = await import("../../adapters/duckdb/shard-source");
  const { describeRows } = await import("../../adapters/duckdb/describe-rows");
  const { quoteText } = await import("../../adapters/duckdb/session");
  let bytes = 0;
  const shards = manifest.shards.filter((shard, index) => {
    bytes += shard.bytes;
    return all || index === 0 || bytes <= readBytes;
  });
  const objects = { getContent: (sha256: string) => download(client, sha256) };
  return withDuckDb(async (session) => {
    const files = await fetchAllShards(session, objects, { ...manifest, shards });
    return describeRows(session, `read_parquet([${files.map(quoteText).join(", ")}])`, manifest.schema);
  });
}

/** Prints the columns: with profile and distribution if their rows are described. */
export function printColumns({ schema, rowCount }: DatasetManifest, described: DescribedRows | undefined): void {
  if (described === undefined) {
    printTable(
      ["COLUMN", "TYPE", "ROLE"],
      schema.map((column) => [column.name, typeText(column), column.role]),
    );
    return;
  }
  if (described.rows < rowCount) {
    process.stdout.write(`profile of the first ${described.rows} rows; --all reads the others\n`);
  }
  printTable(
    ["COLUMN", "TYPE", "ROLE", "MISSING", "DISTINCT", "MIN", "MEAN", "MAX", "HISTOGRAM"],
    schema.map((column, index) => {
      const profile = described.columns[index]!;
      const { count, nulls, distinct } = profile;
      return [
        ...[column.name, typeText(column), column.role, share(nulls, count + nulls), distinct ?? "–"],
        ...[...rangeOf(profile), sparkline(profile.histogram ?? [])],
      ];
    }),
  );
}

export function printPreview({ schema }: DatasetManifest, { preview }: DescribedRows): void {
  printTable(
    schema.map(({ name }) => escaped(name)),
    preview.map((row) => schema.map(({ name }) => cut(escaped(row[name] ?? "–")))),
  );
}

/** Escapes line ends and other control characters as JSON does, so that a row stays on its line. */
function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (one) => JSON.stringify(one).slice(1, -1));
}

/** Returns minimum, mean and maximum; of texts the most frequent one instead. */
function rangeOf({ type, min, mean, max, top = [] }: DescribedColumn): readonly string[] {
  const text = (value: number | string | undefined): string =>
    value === undefined ? "–" : typeof value === "number" ? formatNumber(value) : value.slice(0, 10);
  if (type !== "string") return [text(min), text(mean), text(max)];
  return ["–", cut(JSON.stringify(top[0]?.value ?? "")), "–"];
}

const levels = "▁▂▃▄▅▆▇█";

/** Draws counts as bars: an empty bin is a blank, and the largest is as high as the line. */
export function sparkline(counts: readonly number[]): string {
  const largest = Math.max(1, ...counts);
  return counts
    .map((count) =>
      count === 0 ? " " : levels[Math.min(levels.length - 1, Math.floor((levels.length * count) / largest))]!,
    )
    .join("");
}

function share(part: number, all: number): string {
  return part === 0 ? "0" : `${formatNumber(Math.round((1_000 * part) / all) / 10)} %`;
}

function cut(text: string): string {
  return text.length > cellCharacters ? `${text.slice(0, cellCharacters - 1)}…` : text;
}
