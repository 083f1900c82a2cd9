import type { InferredColumn } from "../../adapters/duckdb/infer-schema";

/** Writes suggested columns as a schema file, one column on each line, for a person to correct. */
export function schemaText(file: string, columns: readonly InferredColumn[]): string {
  const lines = columns.map(({ name, type, shape, role, nullable, note }) => {
    const fields = [
      `name: ${plain.test(name) ? name : JSON.stringify(name)}`,
      `type: ${type}`,
      ...(shape === undefined ? [] : [`shape: [${shape.join(", ")}]`]),
      ...(role === "feature" ? [] : [`role: ${role}`]),
      ...(nullable ? ["nullable: true"] : []),
    ];
    return `  - { ${fields.join(", ")} }${note === undefined ? "" : `   # ${note}`}`;
  });
  return [
    `# Suggested from ${file.replaceAll(/\s+/g, " ")}: check types and roles.`,
    "columns:",
    ...lines,
    "split: { seed: 0, fractions: { train: 0.8, validation: 0.1, test: 0.1 } }",
    "",
  ].join("\n");
}

/** Names that YAML reads unquoted as text. */
const plain = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_]*$/i;
