import type { ColumnSchema } from "../../../core/datasets/shapes";
import type { FeatureOutput, FeatureTransform, TimestampPart } from "../../../core/features/shapes";
import type { GraphBuilder } from "./builder";

type OneHot = Extract<FeatureOutput, { readonly kind: "one-hot" }>;
type Numeric = Extract<FeatureOutput, { readonly kind: "numeric" }>;

/**
 * A raw column as an ONNX input. Text is `string`. A tensor is `float` in its shape. Anything else is `double`: numbers
 * unchanged, bool as 1 and 0, times in milliseconds since the epoch. Missing is NaN, or a text that the training data
 * lack.
 */
export interface RawInput {
  /** Name of the input: the column's, unless it is in use. */
  readonly input: string;
  readonly column: string;
  readonly type: "string" | "double" | "float";
  /** Shape of one row: `[1]`, or a tensor's. */
  readonly shape: readonly number[];
}

const day = 86_400_000;

/**
 * Adds a fitted transform: raw columns in, the network's dense input out. It uses the same float64 arithmetic as
 * `core/features/transform.ts`, rounded to float32 once at the end.
 *
 * @returns the dense input's name, `[rows, …shape]`
 */
export function addFeatures(
  builder: GraphBuilder,
  transform: FeatureTransform,
  columns: readonly ColumnSchema[],
): { readonly dense: string; readonly inputs: readonly RawInput[] } {
  const used = new Set(transform.outputs.map(({ column }) => column));
  const inputs = columns.filter(({ name }) => used.has(name)).map((column) => addInput(builder, column));
  const missing = missingText(transform);
  const inputOf = new Map(inputs.map((each) => [each.column, each]));
  const parts = [...transform.outputs]
    .sort((a, b) => a.offset - b.offset)
    .map((output) => {
      const input = inputOf.get(output.column)!;
      return output.kind === "numeric"
        ? addNumeric(builder, output, input)
        : addOneHot(builder, output, input, missing);
    });
  const flat = parts.length === 1 ? parts[0]! : builder.add("Concat", parts, { axis: { int: 1 } });
  const dense =
    transform.shape.length === 1 ? flat : builder.add("Reshape", [flat, builder.integers([0, ...transform.shape])]);
  return { dense, inputs };
}

/**
 * Returns the text that means a missing value in an exported model, because ONNX's strings have no null: a text that no
 * column's vocabulary has, usually the empty one. If every text has a position (top-k, hash), the empty one is a value.
 */
export function missingText({ outputs }: FeatureTransform): string {
  const known = new Set(outputs.flatMap((output) => (output.kind === "one-hot" ? output.vocabulary : [])));
  const open = outputs.some((output) => output.kind === "one-hot" && (output.other || output.buckets !== undefined));
  let text = open ? "<missing>" : "";
  while (known.has(text)) text += "?";
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
function addNumeric(builder: GraphBuilder, { width, mean, deviation }: Numeric, { input, type }: RawInput): string {
  const flat = type === "float" ? builder.add("Reshape", [input, builder.integers([0, width])]) : input;
  const exact = type === "float" ? builder.add("Cast", [flat], { to: { int: 11 } }) : flat;
  const centred = builder.add("Sub", [exact, builder.double(mean)]);
  const standard = builder.add("Cast", [builder.add("Div", [centred, builder.double(deviation)])], { to: { int: 1 } });
  return builder.add("Where", [builder.add("IsNaN", [standard]), builder.floats([0], []), standard]);
}

/**
 * Computes 1 for the vocabulary's value or the text's bucket, or for other values if they have a position; all 0 if the
 * value is missing or unknown.
 */
function addOneHot(builder: GraphBuilder, output: OneHot, { input, type }: RawInput, missing: string): string {
  const { part, vocabulary, width, other, buckets } = output;
  // The training data have no value of the column, so it has no place in the dense row.
  if (width === 0) {
    const none = builder.constant({ type: "float", data: new Float32Array(0), dims: [1, 0] });
    const rows = builder.add("Gather", [builder.add("Shape", [input]), builder.integers([0])], { axis: { int: 0 } });
    return builder.add("Expand", [none, builder.add("Concat", [rows, builder.integers([0])], { axis: { int: 0 } })]);
  }
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

/** Maps `[rows, 1]` and `[width]` to `[rows, width]`, 1 where equal. */
function equalToEach(builder: GraphBuilder, value: string, known: string): string {
  return builder.add("Cast", [builder.add("Equal", [value, known])], { to: { int: 1 } });
}

/** Computes a part of a time. Whole numbers in float64 are exact here; NaN stays NaN, which equals nothing. */
function addPart(builder: GraphBuilder, part: TimestampPart, time: string): string {
  const op = (name: string) => (a: string, b: string | number) =>
    builder.add(name, [a, typeof b === "number" ? builder.double(b) : b]);
  const [plus, minus, times, over] = [op("Add"), op("Sub"), op("Mul"), op("Div")];
  const floor = (a: string) => builder.add("Floor", [a]);
  const wholeOf = (a: string, by: number) => floor(over(a, by));
  const modulo = (a: string, by: number) => minus(a, times(wholeOf(a, by), by));
  if (part === "hour") return modulo(wholeOf(time, day / 24), 24);
  const days = wholeOf(time, day);
  if (part === "dayOfWeek") return modulo(plus(days, 4), 7); // 1970-01-01 was a Thursday
  // H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years start in March, in eras of 400
  // years.
  const dayOfEra = modulo(plus(days, 719_468), 146_097);
  const leapDays = minus(
    plus(wholeOf(dayOfEra, 36_524), times(wholeOf(dayOfEra, 1_460), -1)),
    wholeOf(dayOfEra, 146_096),
  );
  const yearOfEra = wholeOf(plus(dayOfEra, leapDays), 365);
  const daysBefore = minus(plus(times(yearOfEra, 365), wholeOf(yearOfEra, 4)), wholeOf(yearOfEra, 100));
  const fromMarch = wholeOf(plus(times(minus(dayOfEra, daysBefore), 5), 2), 153);
  return plus(modulo(plus(fromMarch, 2), 12), 1);
}
