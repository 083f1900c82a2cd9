import { type DatasetProfile, exactProfileRows } from "../../core/datasets/profile";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { profileColumns } from "./profile";
import { countRepeats, sharesOf, writeHashes } from "./repeated-rows";
import type { DuckDbSession } from "./session";
import { classesOf } from "./splits";

export async function profileDataset(
  session: DuckDbSession,
  table: string,
  manifest: Pick<DatasetManifest, "name" | "version" | "digest" | "rowCount" | "schema">,
): Promise<DatasetProfile> {
  const { name, version, digest, rowCount, schema } = manifest;
  const names = schema.map((column) => column.name);
  const hashes = await writeHashes(session, table, names, { splits: true });
  const classes = await classesOf(session, table, schema);
  return {
    dataset: { name, version, digest },
    rowCount,
    exact: rowCount <= exactProfileRows,
    columns: await profileColumns(session, table, schema, rowCount),
    ...(classes ? { classes } : {}),
    ...sharesOf(await countRepeats(session, [hashes])),
  };
}
