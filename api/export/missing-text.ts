import type { FeatureTransform } from "../../core/features/manifest";

/**
 * Returns the text that means a missing value in an exported model, because ONNX's strings have no null: a text that no
 * column's vocabulary has, usually the empty one.
 */
export function missingText({ outputs }: FeatureTransform): string {
  const known = new Set(outputs.flatMap((output) => (output.kind === "one-hot" ? output.vocabulary : [])));
  let text = "";
  while (known.has(text)) text += "?";
  return text;
}
