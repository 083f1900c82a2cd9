import type { InferredColumn, InferredSchema } from "../../adapters/duckdb/infer-schema";
import { typeText } from "../../core/datasets/identity";
import { listTokens } from "../../core/datasets/rules";
import type { ColumnSchema, DatasetManifest } from "../../core/datasets/shapes";

interface SuggestedSchema extends InferredSchema {
  /** The version that it follows, as `name@version`. */
  readonly follows?: string;
  readonly split?: Omit<DatasetManifest["split"], "indexes" | "stratifyBy"> & { readonly stratifyBy?: string | null };
}

/**
 * Returns a suggested schema with the types, roles, rules, order and split of an earlier version, where the values fit;
 * formats and missing tokens are those of the file. With another label column, it stays as suggested.
 */
export function followVersion(suggested: InferredSchema, earlierVersion: DatasetManifest): SuggestedSchema {
  const { name, version, schema, split } = earlierVersion;
  const label = (columns: readonly ColumnSchema[]) => columns.find(({ role }) => role === "label")?.name;
  if (label(suggested.columns) !== label(schema)) return suggested;
  const earlier = new Map(schema.map((column, index) => [column.name, { column, index }]));
  const position = (column: ColumnSchema): number => earlier.get(column.name)?.index ?? earlier.size;
  const columns = suggested.columns
    .map((column) => follow(column, earlier.get(column.name)?.column))
    .sort((a, b) => position(a) - position(b));
  const { indexes: _, ...rule } = split;
  // Without a column, a schema file is stratified by its label.
  const stratified = rule.by !== undefined || rule.stratifyBy !== undefined ? rule : { ...rule, stratifyBy: null };
  return { ...suggested, columns, split: stratified, follows: `${name}@${version}` };
}

function follow(column: InferredColumn, earlier: ColumnSchema | undefined): InferredColumn {
  if (earlier === undefined || column.omitted || !fits(column, earlier)) return column;
  // A remark on the suggested type or role holds only for these.
  const { note } = column;
  const missing = [...new Set([...(earlier.missing ?? []), ...(column.missing ?? [])])];
  const format = earlier.type === "string" ? undefined : column.format;
  const isNullable = earlier.nullable || (column.nullable && !column.complete);
  const same = column.type === earlier.type && column.role === earlier.role;
  const { from: _, format: __, missing: ___, nullable: ____, ...kept } = earlier;
  return {
    ...kept,
    ...(isNullable ? { nullable: true } : {}),
    format,
    ...(missing.length === 0 ? {} : { missing }),
    ...(same && note !== undefined ? { note } : {}),
  };
}

function fits(column: InferredColumn, earlier: ColumnSchema): boolean {
  if (column.empty && earlier.type !== "tensor") return true;
  if (earlier.type === "string" && column.type !== "tensor") return true;
  return typeText(column) === typeText(earlier) || (column.type === "int" && earlier.type === "float");
}

/** Writes a suggested schema as a schema file, one column on each line, for a person to correct. */
export function schemaText(file: string, { columns, missing, split, follows }: SuggestedSchema): string {
  const followed = follows === undefined ? "" : `, with the types, roles, rules and split of ${follows}`;
  return [
    `# Suggested from ${file.replaceAll(/\s+/g, " ")}${followed}: check types and roles.`,
    "columns:",
    ...columns.map(lineOf),
    ...(missing.length === 0 ? [] : [`missing: [${listTokens(missing)}]`]),
    `split: ${split ? JSON.stringify(split) : "{ seed: 0, fractions: { train: 0.8, validation: 0.1, test: 0.1 } }"}`,
    "",
  ].join("\n");
}

function lineOf(column: InferredColumn): string {
  const { name, type, shape, role, nullable, values, minimum, maximum, format, missing, note, omitted } = column;
  const written = yamlName(name);
  if (omitted) return `  # ${written} is omitted: ${note}`;
  const fields = [
    `name: ${written}`,
    `type: ${type}`,
    ...(shape === undefined ? [] : [`shape: [${shape.join(", ")}]`]),
    ...(role === "feature" ? [] : [`role: ${role}`]),
    ...(nullable ? ["nullable: true"] : []),
    ...(values === undefined ? [] : [`values: ${JSON.stringify(values)}`]),
    ...(minimum === undefined ? [] : [`minimum: ${minimum}`]),
    ...(maximum === undefined ? [] : [`maximum: ${maximum}`]),
    ...(format === undefined ? [] : [`format: ${JSON.stringify(format)}`]),
    ...(missing === undefined ? [] : [`missing: [${listTokens(missing)}]`]),
  ];
  return `  - { ${fields.join(", ")} }${note === undefined ? "" : `   # ${note}`}`;
}

export function yamlName(name: string): string {
  return plain.test(name) ? name : JSON.stringify(name);
}

/** Names that YAML reads unquoted as text. */
const plain = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_]*$/i;
