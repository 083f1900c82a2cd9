import type { InferredColumn } from "../../adapters/duckdb/infer-schema";
import { listTokens } from "../../core/datasets/rules";
import type { SuggestedSchema } from "./earlier-columns";

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
