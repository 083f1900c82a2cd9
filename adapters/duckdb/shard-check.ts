import { invalidManifest } from "../../core/datasets/errors";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { canonicalTypes } from "./cast";
import { messageOf } from "./errors";
import { columnTypes, type DuckDbSession, quoteText } from "./session";

/**
 * Checks that the shards match the manifest: readable Parquet, its number of rows, and its columns with their canonical
 * types.
 *
 * @throws INVALID_DATASET_MANIFEST
 */
export async function checkShards(
  session: DuckDbSession,
  files: readonly string[],
  manifest: DatasetManifest,
): Promise<void> {
  const reasons: string[] = [];
  for (const [index, { rows, sha256 }] of manifest.shards.entries()) {
    const name = quoteText(files[index]!);
    try {
      const [counted] = await session.rows(`SELECT num_rows FROM parquet_file_metadata(${name})`);
      const count = Number(counted!["num_rows"]);
      if (count !== rows) reasons.push(`shard ${sha256} has ${count} rows, not ${rows}`);
      const types = await columnTypes(session, `read_parquet(${name})`);
      for (const column of manifest.schema) {
        const type = types.get(column.name);
        if (type === canonicalTypes[column.type]) continue;
        reasons.push(
          `shard ${sha256} holds column ${column.name} as ${type ?? "nothing"}, not ${canonicalTypes[column.type]}`,
        );
      }
    } catch (cause) {
      reasons.push(`shard ${sha256} cannot be read: ${messageOf(cause).split("\n")[0]}`);
    }
  }
  if (reasons.length > 0) throw invalidManifest(`${manifest.name}@${manifest.version}`, reasons);
}
