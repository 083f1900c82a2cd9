import { type Category, type DatasetProfile, exactProfileRows } from "../../core/datasets/profile";
import { type DatasetManifest, type SplitName, splitNames } from "../../core/datasets/shapes";
import { categoryAt } from "../../core/features/values";
import { compareCategories } from "../../core/row-values";
import { profileColumns } from "./profile";
import { countRepeats, sharesOf, writeHashes } from "./repeated-rows";
import { readColumns } from "./row-reader";
import type { DuckDbSession } from "./session";

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
  const names = schema.map((column) => column.name);
  const hashes = await writeHashes(session, table, names, { splitOf });
  const classes = await classesOf(session, table, manifest, splitOf);
  return {
    dataset: { name, version, digest },
    rowCount,
    exact: rowCount <= exactProfileRows,
    columns: await profileColumns(session, table, schema, rowCount),
    ...(classes ? { classes } : {}),
    ...sharesOf(await countRepeats(session, [hashes])),
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
