import * as fs from "node:fs";
import * as path from "node:path";
import { datasetTooLarge } from "../../core/datasets/errors";
import type { ColumnSchema, DatasetManifest } from "../../core/datasets/shapes";
import type { ColumnBatch, RowSource } from "../../core/features/values";
import type { ObjectStore } from "../../core/ports";
import type { ContentReference } from "../../core/shapes";
import { type Dictionaries, readColumns, readDictionaries } from "./row-reader";
import { type DuckDbSession, quoteText } from "./session";

/**
 * The maximum total size of shards that stay on disk between passes. Of a larger dataset, one shard at a time is on
 * disk.
 */
const keptBytes = 384 * 1024 * 1024;

type Contents = Pick<ObjectStore, "getContent">;

/**
 * Streams a dataset version's rows, or those of a group of its shards, shard by shard from the content store, and checks
 * each shard against its digest.
 */
export function createShardSource(
  session: DuckDbSession,
  objects: Contents,
  manifest: Pick<DatasetManifest, "bytes" | "shards"> & { readonly firstRow?: number },
): RowSource {
  const keep = manifest.bytes <= keptBytes;
  const cache = new Map<string, Promise<Dictionaries>>();
  return {
    async *read(columns: readonly ColumnSchema[]): AsyncGenerator<ColumnBatch> {
      let { firstRow = 0 } = manifest;
      for (const shard of manifest.shards) {
        const file = await fetchShard(session, objects, shard.sha256);
        const table = `read_parquet(${quoteText(file)})`;
        const key = [shard.sha256, ...columns.map(({ name }) => name)].join(" ");
        const dictionaries = cache.get(key) ?? readDictionaries(session, table, columns);
        cache.set(key, dictionaries);
        yield* readColumns(session, table, columns, { firstRow, dictionaries: await dictionaries });
        firstRow += shard.rows;
        if (!keep) fs.rmSync(file);
      }
    },
  };
}

/**
 * Downloads all shards as local files, in their order.
 *
 * @throws DATASET_TOO_LARGE before the first download
 */
export async function fetchAllShards(
  session: DuckDbSession,
  objects: Contents,
  manifest: Pick<DatasetManifest, "name" | "version" | "bytes" | "shards">,
): Promise<readonly string[]> {
  const roomBytes = freeBytes(session.directory);
  if (manifest.bytes > roomBytes) throw datasetTooLarge(manifest, roomBytes);
  return fetchFiles(session, objects, manifest.shards);
}

export async function fetchFiles(
  session: DuckDbSession,
  objects: Contents,
  contents: readonly Pick<ContentReference, "sha256">[],
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const { sha256 } of contents) files.push(await fetchShard(session, objects, sha256));
  return files;
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = fs.statfsSync(directory);
  return bavail * bsize;
}

async function fetchShard(session: DuckDbSession, objects: Contents, sha256: string): Promise<string> {
  const file = path.join(session.directory, `${sha256}.parquet`);
  if (!fs.existsSync(file)) fs.writeFileSync(file, await objects.getContent(sha256));
  return file;
}
