import type { InferredColumn, InferredSchema } from "../../adapters/duckdb/infer-schema";
import { listTokens } from "../../core/datasets/rules";

/** Writes a suggested schema as a schema file, one column on each line, for a person to correct. */
export function schemaText(file: string, { columns, missing }: InferredSchema): string {
  return [
    `# Suggested from ${file.replaceAll(/\s+/g, " ")}: check types and roles.`,
    "columns:",
    ...columns.map(lineOf),
    ...(missing.length === 0 ? [] : [`missing: [${listTokens(missing)}]`]),
    "split: { seed: 0, fractions: { train: 0.8, validation: 0.1, test: 0.1 } }",
    "",
  ].join("\n");
}

function lineOf({ name, type, shape, role, nullable, format, note, omitted }: InferredColumn): string {
  const written = plain.test(name) ? name : JSON.stringify(name);
  if (omitted) return `  # ${written} is omitted: ${note}`;
  const fields = [
    `name: ${written}`,
    `type: ${type}`,
    ...(shape === undefined ? [] : [`shape: [${shape.join(", ")}]`]),
    ...(role === "feature" ? [] : [`role: ${role}`]),
    ...(nullable ? ["nullable: true"] : []),
    ...(format === undefined ? [] : [`format: ${JSON.stringify(format)}`]),
  ];
  return `  - { ${fields.join(", ")} }${note === undefined ? "" : `   # ${note}`}`;
}

/** Names that YAML reads unquoted as text. */
const plain = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_]*$/i;
