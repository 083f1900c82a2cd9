import { elementsOf, isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { mulberry32 } from "../../core/datasets/split";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import type { CheckRows, ExportableModel } from "../../core/export/ports";
import type { FeatureTransform } from "../../core/features/shapes";
import { createRowTransform, type RawRow } from "../../core/features/transform";

export const checkedRows = 64;
const seed = 32;

/**
 * Draws the raw rows with which exported files are checked. They are similar to the training data: numbers around their
 * mean within the schema's bounds, every known text and unknown ones, every hour and month, and missing values if the
 * schema permits them. A function of the artifact alone: an export needs no data and gives the same files each time.
 */
export function drawRows({
  transform,
  inputSchema,
}: Pick<ModelArtifact, "transform" | "inputSchema">): readonly RawRow[] {
  const random = mulberry32(seed);
  const used = new Set(transform.outputs.map(({ column }) => column));
  const columns = inputSchema.filter(({ name }) => used.has(name));
  return Array.from({ length: checkedRows }, () =>
    Object.fromEntries(
      columns.map((column) => {
        const missing = isNullable(column) && random() < 0.1;
        return [column.name, missing ? null : draw(column, transform, random)];
      }),
    ),
  );
}

/** Returns the rows with the platform's own predictions. */
export function checkRowsOf(artifact: ModelArtifact, model: ExportableModel): CheckRows {
  const rows = drawRows(artifact);
  const dense = createRowTransform(artifact.transform, artifact.inputSchema).apply(rows);
  return { rows, dense, predicted: model.predict(dense, rows.length) };
}

function draw(column: ColumnSchema, { outputs }: FeatureTransform, random: () => number): unknown {
  const output = outputs.find((each) => each.column === column.name)!;
  switch (column.type) {
    case "string": {
      if (output.kind === "one-hot" && output.buckets !== undefined) return drawText(random);
      const known = output.kind === "one-hot" ? output.vocabulary : [];
      const at = Math.floor(random() * (known.length + 1));
      return at < known.length ? known[at] : "a text that training never saw";
    }
    case "bool":
      return random() < 0.5;
    case "timestamp":
      // Whole milliseconds from 1960 to 2060.
      return Math.floor((random() - 0.1) * 100 * 365.25 * 86_400_000);
    case "tensor":
      return Array.from({ length: elementsOf(column) }, () => drawNumber(column, output, random));
    case "int": {
      if (column.values !== undefined) return column.values[Math.floor(random() * column.values.length)];
      return Math.round(drawNumber(column, output, random));
    }
    case "float":
      return drawNumber(column, output, random);
  }
}

/** Draws a text of 0–12 characters, of one to four bytes each. */
function drawText(random: () => number): string {
  const alphabet = ["a", "Z", "7", " ", "é", "✓", "𝄞"];
  const length = Math.floor(random() * 13);
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}

/** Draws an approximately normal number: the sum of twelve uniform numbers has a deviation of 1. */
function drawNumber(column: ColumnSchema, output: FeatureTransform["outputs"][number], random: () => number): number {
  const { mean, deviation } = output.kind === "numeric" ? output : { mean: 0, deviation: 1 };
  let normal = -6;
  for (let i = 0; i < 12; i += 1) normal += random();
  const value = mean + deviation * normal;
  return Math.min(column.maximum ?? value, Math.max(column.minimum ?? value, value));
}
