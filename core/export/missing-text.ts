import type { FeatureTransform } from "../features/manifest";

/** ONNX's strings have no null: a text that no column's vocabulary has, which an exported model takes for missing. Mostly the empty one. */
export function missingText({ outputs }: FeatureTransform): string {
  const known = new Set(outputs.flatMap((output) => (output.kind === "one-hot" ? output.vocabulary : [])));
  let text = "";
  while (known.has(text)) text += "?";
  return text;
}
