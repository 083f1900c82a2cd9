import type { ColumnSchema } from "../../../core/datasets/shapes";
import { textsOf } from "../../../core/feature-plans/compile";
import type { Piecewise } from "../../../core/features/piecewise";
import { inputColumns } from "../../../core/features/planned-rows";
import type { FeatureOutput, FeatureTransform } from "../../../core/features/shapes";
import type { Numeric } from "../../../core/features/transform";
import type { GraphBuilder } from "./builder";
import { addEmptyPart, addPart, equalToEach, type RawInput } from "./parts";
import { addPlan } from "./plan-graph";

type OneHot = Extract<FeatureOutput, { readonly kind: "one-hot" }>;

/** Adds a fitted transform, in float64 as `core/features/transform.ts`. @returns the dense input, `[rows, …shape]` */
export function addFeatures(
  builder: GraphBuilder,
  transform: FeatureTransform,
  columns: readonly ColumnSchema[],
): { readonly dense: string; readonly inputs: readonly RawInput[] } {
  const used = inputColumns(transform);
  const inputs = columns.filter(({ name }) => used.has(name)).map((column) => addInput(builder, column));
  const missing = missingText(transform);
  const inputOf = new Map(inputs.map((each) => [each.column, each]));
  const places = [...transform.outputs].map((output, index) => ({ output, index }));
  const planned = transform.plan && addPlan(builder, transform.plan, transform, inputOf, missing);
  const parts = places
    .sort((a, b) => a.output.offset - b.output.offset)
    .map(({ output, index }) => {
      if (planned) return planned[index]!;
      const input = inputOf.get(output.column)!;
      if (output.kind === "numeric") return addNumeric(builder, output, input);
      return output.kind === "piecewise"
        ? addPieces(builder, output, input)
        : addOneHot(builder, output, input, missing);
    });
  const flat = parts.length === 1 ? parts[0]! : builder.add("Concat", parts, { axis: { int: 1 } });
  const dense =
    transform.shape.length === 1 ? flat : builder.add("Reshape", [flat, builder.integers([0, ...transform.shape])]);
  return { dense, inputs };
}

/**
 * The text that means a missing value, because ONNX's strings have no null: one that no vocabulary has, usually `""`.
 */
export function missingText({ outputs, plan }: FeatureTransform): string {
  const vocabularies = outputs.flatMap((output) => (output.kind === "one-hot" ? output.vocabulary : []));
  const texts = new Set<unknown>(plan ? textsOf(plan) : vocabularies);
  const open = plan
    ? plan.view.steps.some((step) => "impute" in step && typeof step.impute === "string")
    : outputs.some((output) => output.kind === "one-hot" && (output.other || output.buckets !== undefined));
  let text = open ? "<missing>" : "";
  while (texts.has(text)) text += "?";
  return text;
}

function addInput(builder: GraphBuilder, { name, type, shape = [1] }: ColumnSchema): RawInput {
  const element = type === "string" ? "string" : type === "tensor" ? "float" : "double";
  const rowShape = type === "tensor" ? shape : [1];
  return {
    input: builder.input(name, element, ["rows", ...rowShape]),
    column: name,
    type: element,
    shape: rowShape,
  };
}

/** Computes `(x - mean) / deviation`; a missing value is 0, the mean. */
function addNumeric(
  builder: GraphBuilder,
  { width, mean, deviation }: Pick<Numeric, "width" | "mean" | "deviation">,
  { input, type }: RawInput,
): string {
  const flat = type === "float" ? builder.add("Reshape", [input, builder.integers([0, width])]) : input;
  const exact = type === "float" ? builder.add("Cast", [flat], { to: { int: 11 } }) : flat;
  const centred = builder.add("Sub", [exact, builder.double(mean)]);
  const standard = builder.add("Cast", [builder.add("Div", [centred, builder.double(deviation)])], { to: { int: 1 } });
  return builder.add("Where", [builder.add("IsNaN", [standard]), builder.floats([0], []), standard]);
}

/** Computes the pieces of a standardised number, in float64 from its float32. */
function addPieces(builder: GraphBuilder, output: Piecewise, input: RawInput): string {
  const { boundaries, means, scale } = output;
  const widths = means.map((_, i) => boundaries[i + 1]! - boundaries[i]!);
  const standard = addNumeric(builder, { ...output, width: 1 }, input);
  const number = builder.add("Cast", [standard], { to: { int: 11 } });
  const above = builder.add("Sub", [number, builder.doubles(boundaries.slice(0, -1))]);
  const share = builder.add("Div", [above, builder.doubles(widths)]);
  const piece = builder.add("Clip", [share, builder.double(0), builder.double(1)]);
  const centred = builder.add("Sub", [piece, builder.doubles(means)]);
  return builder.add("Cast", [builder.add("Mul", [centred, builder.double(scale)])], { to: { int: 1 } });
}

/** Computes 1 for the vocabulary's value or the text's bucket, or for other values if they have a position. */
function addOneHot(builder: GraphBuilder, output: OneHot, { input, type }: RawInput, missing: string): string {
  const { part, vocabulary, width, other, buckets } = output;
  // The training data have no value of the column, so it has no place in the dense row.
  if (width === 0) return addEmptyPart(builder, input);
  if (buckets !== undefined) return addHash(builder, buckets, input, missing);
  if (type === "string") {
    const codesOf = vocabulary.map((_, code) => code);
    const codes = builder.add(
      "LabelEncoder",
      [input],
      {
        keys_strings: { texts: [...(vocabulary as readonly string[]), ...(other ? [missing] : [])] },
        values_int64s: { ints: [...codesOf, ...(other ? [-1] : [])] },
        default_int64: { int: other ? vocabulary.length : -1 },
      },
      "ai.onnx.ml",
    );
    return equalToEach(builder, codes, builder.integers([...codesOf, ...(other ? [vocabulary.length] : [])]));
  }
  if (other && vocabulary.length === 0) return addPresent(builder, input);
  const values = Float64Array.from(vocabulary, Number);
  const known = builder.constant({ type: "double", data: values, dims: [values.length] });
  const equal = equalToEach(builder, part === undefined ? input : addPart(builder, part, input), known);
  return other ? builder.add("Concat", [equal, addOther(builder, equal, input)], { axis: { int: 1 } }) : equal;
}

/** Computes 1 for a number that is present and equal to none. */
function addOther(builder: GraphBuilder, equal: string, input: string): string {
  return builder.add("Sub", [addPresent(builder, input), builder.add("ReduceMax", [equal], { axes: { ints: [1] } })]);
}

function addPresent(builder: GraphBuilder, input: string): string {
  const [zero, one] = [builder.floats([0], []), builder.floats([1], [])];
  return builder.add("Where", [builder.add("IsNaN", [input]), zero, one]);
}

/** Computes the one-hot of MurmurHash3 modulo `buckets`, an operator of onnxruntime; all 0 for the missing text. */
function addHash(builder: GraphBuilder, buckets: number, input: string, missing: string): string {
  const hash = builder.add("MurmurHash3", [input], { positive: { int: 1 }, seed: { int: 0 } }, "com.microsoft");
  const wide = builder.add("Cast", [hash], { to: { int: 7 } });
  const bucket = builder.add("Mod", [wide, builder.integers([buckets])]);
  const present = builder.add(
    "LabelEncoder",
    [input],
    { keys_strings: { texts: [missing] }, values_int64s: { ints: [0] }, default_int64: { int: 1 } },
    "ai.onnx.ml",
  );
  const places = builder.integers(Array.from({ length: buckets }, (_, code) => code));
  return builder.add("Mul", [equalToEach(builder, bucket, places), builder.add("Cast", [present], { to: { int: 1 } })]);
}
