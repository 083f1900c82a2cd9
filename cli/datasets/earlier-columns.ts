import type { InferredColumn, InferredSchema } from "../../adapters/duckdb/infer-schema";
import { typeText } from "../../core/datasets/identity";
import type { ColumnSchema, DatasetManifest } from "../../core/datasets/shapes";

/** A schema that is suggested for a file, with the split of an earlier version if there is one. */
export interface SuggestedSchema extends InferredSchema {
  readonly split?: Omit<DatasetManifest["split"], "indexes" | "stratifyBy"> & { readonly stratifyBy?: string | null };
}

/**
 * Returns a suggested schema with the types, roles, rules, order and split of an earlier version, as far as the file's
 * values fit. So a column of numbers stays `float` although a file happens to have whole ones only, and a column that
 * a person excluded stays excluded. Formats and missing tokens are those of the file. If the file has another label,
 * the suggestion stays as it is.
 */
export function followVersion(suggested: InferredSchema, { schema, split }: DatasetManifest): SuggestedSchema {
  const label = (columns: readonly ColumnSchema[]) => columns.find(({ role }) => role === "label")?.name;
  if (label(suggested.columns) !== label(schema)) return suggested;
  const earlier = new Map(schema.map((column, index) => [column.name, { column, index }]));
  const position = ({ name }: ColumnSchema): number => earlier.get(name)?.index ?? earlier.size;
  const columns = suggested.columns
    .map((column) => follow(column, earlier.get(column.name)?.column))
    .sort((a, b) => position(a) - position(b));
  const { indexes: _, ...rule } = split;
  const stratified = rule.by !== undefined || rule.stratifyBy !== undefined ? rule : { ...rule, stratifyBy: null };
  return { ...suggested, columns, split: stratified };
}

function follow(column: InferredColumn, earlier: ColumnSchema | undefined): InferredColumn {
  if (earlier === undefined || column.omitted || !fits(column, earlier)) return column;
  // A remark on the suggested type or role holds only for these.
  const { note, format, missing } = column;
  const same = column.type === earlier.type && column.role === earlier.role;
  const { from: _, format: __, missing: ___, nullable: ____, ...kept } = earlier;
  return {
    ...kept,
    ...(column.nullable || earlier.nullable ? { nullable: true } : {}),
    ...(format === undefined ? {} : { format }),
    ...(missing === undefined ? {} : { missing }),
    ...(same && note !== undefined ? { note } : {}),
  };
}

function fits(column: InferredColumn, earlier: ColumnSchema): boolean {
  return typeText(column) === typeText(earlier) || (column.type === "int" && earlier.type === "float");
}
