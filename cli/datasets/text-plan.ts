import { type ColumnProfile, hasTexts, valueLimit } from "../../core/datasets/profile";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { yamlName } from "./schema-text";

const timeParts = ["hour", "dayOfWeek", "month"] as const;

/** A plan that reads columns of texts by their n-grams, and others as without a plan. `undefined` without texts. */
export function textPlan(schema: readonly ColumnSchema[], profiles: readonly ColumnProfile[]): string | undefined {
  const profileOf = new Map(profiles.map((profile) => [profile.name, profile]));
  const features = schema.filter(({ role }) => role === "feature");
  if (!features.some(({ name }) => hasTexts(profileOf.get(name)!))) return undefined;
  const steps = features.flatMap((column) => stepsOf(column, profileOf.get(column.name)!));
  return ["features:", "  plan:", ...steps.map((step) => `    - { ${step} }`), ""].join("\n");
}

function stepsOf({ name, type, values }: ColumnSchema, profile: ColumnProfile): readonly string[] {
  const column = `column: ${yamlName(name)}`;
  if (hasTexts(profile)) return [`kind: ngrams, ${column}, buckets: 512`];
  switch (type) {
    case "tensor":
      return []; // a plan does not read it
    case "timestamp":
      return timeParts.map(
        (part) => `kind: cycle, ${column}, part: ${part}, name: ${JSON.stringify(`${name} ${part}`)}`,
      );
    case "string":
      if ((profile.distinct ?? 0) > valueLimit) return [`kind: hash, ${column}, buckets: 256`];
      return [`kind: one-hot, ${column}`];
    case "bool":
      return [`kind: one-hot, ${column}`];
    case "int":
    case "float":
      return [`kind: ${values === undefined || type === "float" ? "standardize" : "one-hot"}, ${column}`];
  }
}
