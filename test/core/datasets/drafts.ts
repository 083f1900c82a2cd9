import { schemaHashOf, versionDigestOf } from "../../../core/datasets/identity";
import type { ColumnSchema, DatasetDraft } from "../../../core/datasets/shapes";
import { sha256 } from "../../../core/digest";

export const columns: readonly ColumnSchema[] = [
  { name: "x", type: "float", role: "feature" },
  { name: "y", type: "int", role: "label" },
];

/** Builds a draft; each text of `content` becomes a content of its own. */
export function draftOf(name: string, content: string, schema: readonly ColumnSchema[] = columns): DatasetDraft {
  const index = (split: string) => ({ sha256: sha256(`${content} ${split}`), bytes: 4, rows: 1 });
  const described = {
    schema,
    shards: [{ sha256: sha256(content), bytes: content.length, rows: 3 }],
    split: {
      seed: 0,
      fractions: { train: 0.8, validation: 0.1, test: 0.1 },
      stratifyBy: "y",
      indexes: { train: index("train"), validation: index("validation"), test: index("test") },
    },
  };
  return {
    name,
    ...described,
    digest: versionDigestOf(described),
    schemaHash: schemaHashOf(schema),
    rowCount: 3,
    bytes: content.length,
  };
}
