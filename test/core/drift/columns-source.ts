import type { ColumnSchema, DatasetManifest } from "../../../core/datasets/shapes";
import type { MeasuredVersion } from "../../../core/drift/measure";
import type { RowSource } from "../../../core/features/values";
import { draftOf } from "../datasets/drafts";

/** Numbers as the columns `x0`, `x1`, … of a version. */
export function numbersVersion(version: number, columns: readonly Float64Array[]): MeasuredVersion {
  const schema = columns.map((_values, index): ColumnSchema => ({ name: `x${index}`, type: "float", role: "feature" }));
  return versionOf(version, schema, columns[0]?.length ?? 0, {
    async *read(read) {
      const batch = read.map(({ name }) => [name, columns[Number(name.slice(1))]!] as const);
      const rows = columns[0]!.length;
      const valid = new Uint8Array(rows).fill(1);
      const values = batch.map(([name, values]) => [name, { kind: "number", values, valid }] as const);
      yield { rows, firstRow: 0, columns: Object.fromEntries(values) };
    },
  });
}

export function versionOf(
  version: number,
  schema: readonly ColumnSchema[],
  rowCount: number,
  rows: RowSource,
): MeasuredVersion {
  const manifest: DatasetManifest = {
    ...draftOf("shop", `version ${version}`, schema),
    ...{ rowCount, version, createdAt: "2026-01-01T00:00:00.000Z" },
  };
  return { manifest, rows };
}
