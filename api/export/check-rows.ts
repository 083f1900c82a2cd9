import { elementsOf, isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { mulberry32 } from "../../core/datasets/split";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { type CheckRows, type ExportableModel, unpredictableRows } from "../../core/export";
import { textsOf } from "../../core/feature-plans/compile";
import type { FittedPlan } from "../../core/feature-plans/shapes";
import { inputColumns } from "../../core/features/planned-rows";
import type { FeatureTransform } from "../../core/features/shapes";
import { createRowTransform, type RawRow } from "../../core/features/transform";
import type { Category } from "../../core/row-values";

export const checkedRows = 64;
const seed = 32;

/**
 * Draws the raw rows with which exported files are checked: similar to the training data, with unknown and missing
 * values. A function of the artifact alone: an export needs no data and gives the same files each time.
 */
function drawRows({ transform, inputSchema }: ModelArtifact, largestId: number | undefined): readonly RawRow[] {
  const random = mulberry32(seed);
  const used = inputColumns(transform);
  const columns = inputSchema.filter(({ name }) => used.has(name));
  const knownIn = knownOf(transform);
  return Array.from({ length: checkedRows }, () =>
    Object.fromEntries(
      columns.map((column) => {
        const missing = isNullable(column) && random() < 0.1;
        return [column.name, missing ? null : draw(within(column, largestId), knownIn(column), random)];
      }),
    ),
  );
}

export function checkRowsOf(artifact: ModelArtifact, model: ExportableModel): CheckRows {
  const rows = drawRows(artifact, largestIdOf(model));
  const dense = createRowTransform(artifact.transform, artifact.inputSchema).apply(rows);
  try {
    return { rows, dense, predicted: model.predict(dense, rows.length) };
  } catch (error) {
    if (error instanceof RangeError) throw unpredictableRows(error);
    throw error;
  }
}

/** Returns the largest id that all embeddings of the network have; undefined: there is no embedding. */
function largestIdOf({ network }: ExportableModel): number | undefined {
  const embeddings = network.layers.filter(({ className }) => className === "Embedding");
  const sizes = embeddings.map(({ config }) => config["inputDim"] as number);
  return sizes.length === 0 ? undefined : Math.min(...sizes) - 1;
}

function within(column: ColumnSchema, largestId: number | undefined): ColumnSchema {
  if (largestId === undefined || (column.type !== "int" && column.type !== "tensor")) return column;
  return { minimum: 0, maximum: Math.max(largestId, column.minimum ?? 0), ...column };
}

type Known =
  | { readonly kind: "numeric"; readonly mean: number; readonly deviation: number }
  | { readonly kind: "one-hot"; readonly vocabulary: readonly Category[]; readonly buckets?: number | undefined }
  | { readonly kind: "whole"; readonly values: readonly number[] };

function knownOf({ outputs, plan }: FeatureTransform): (column: ColumnSchema) => Known {
  return plan
    ? knownOfPlan(plan)
    : ({ name }) => outputs.find(({ kind, column }) => kind !== "piecewise" && column === name) as Known;
}

/** A column's numbers are around the center that a step fitted. Its categories may be those of any column. */
function knownOfPlan(plan: FittedPlan): (column: ColumnSchema) => Known {
  const vocabulary = [...new Set(textsOf(plan))];
  const whole = vocabulary.map(Number).filter(Number.isSafeInteger);
  return ({ name, type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }) => {
    if (type === "string") return { kind: "one-hot", vocabulary };
    const fitted = plan.view.steps
      .filter((step) => "column" in step && step.column === name)
      .map((step) => plan.fitted[step.name])
      .find((values) => values?.center !== undefined);
    const values = whole.filter((value) => value >= minimum && value <= maximum);
    if (type === "int" && fitted === undefined && values.length > 0) return { kind: "whole", values };
    return { kind: "numeric", mean: fitted?.center ?? 0, deviation: fitted?.scale ?? 1 };
  };
}

function draw(column: ColumnSchema, known: Known, random: () => number): unknown {
  switch (column.type) {
    case "string": {
      if (known.kind === "one-hot" && known.buckets !== undefined) return drawText(random);
      const texts = known.kind === "one-hot" ? known.vocabulary : [];
      const at = Math.floor(random() * (texts.length + 1));
      return at < texts.length ? texts[at] : "a text that training never saw";
    }
    case "bool":
      return random() < 0.5;
    case "timestamp": {
      // Whole milliseconds from 1960 to 2060, and whole hours, at which parts of a time change.
      const unit = random() < 0.5 ? 1 : 3_600_000;
      return Math.floor(((random() - 0.1) * 100 * 365.25 * 86_400_000) / unit) * unit;
    }
    case "tensor":
      return Array.from({ length: elementsOf(column) }, () => drawNumber(column, known, random));
    case "int": {
      if (column.values !== undefined) return column.values[Math.floor(random() * column.values.length)];
      if (known.kind === "whole") return known.values[Math.floor(random() * known.values.length)];
      return Math.round(drawNumber(column, known, random));
    }
    case "float":
      return drawNumber(column, known, random);
  }
}

/** Draws a text of 0–12 characters, of one to four bytes each. */
function drawText(random: () => number): string {
  const alphabet = ["a", "Z", "7", " ", "é", "✓", "𝄞"];
  const length = Math.floor(random() * 13);
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}

/** Draws an approximately normal number: the sum of twelve uniform numbers has a deviation of 1. */
function drawNumber(column: ColumnSchema, known: Known, random: () => number): number {
  const { mean, deviation } = known.kind === "numeric" ? known : { mean: 0, deviation: 1 };
  let normal = -6;
  for (let i = 0; i < 12; i += 1) normal += random();
  const value = mean + deviation * normal;
  return Math.min(column.maximum ?? value, Math.max(column.minimum ?? value, value));
}
