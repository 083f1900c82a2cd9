import { unsupportedStep } from "../../../core/export";
import { compilePlan } from "../../../core/feature-plans/compile";
import type { CalendarPart } from "../../../core/feature-plans/dialects";
import type { Operation } from "../../../core/feature-plans/operation";
import type { FittedPlan } from "../../../core/feature-plans/shapes";
import { separator } from "../../../core/feature-plans/text-expressions";
import type { FeatureTransform } from "../../../core/features/shapes";
import type { GraphBuilder } from "./builder";
import { addCalendarPart, addEmptyPart, equalToEach, type RawInput } from "./parts";

/**
 * Adds a fitted plan's features, `[rows, width]` for each output. @throws EXPORT_UNSUPPORTED for some text functions
 */
export function addPlan(
  builder: GraphBuilder,
  plan: FittedPlan,
  { outputs }: FeatureTransform,
  inputs: ReadonlyMap<string, RawInput>,
  missing: string,
): readonly string[] {
  const graph = new PlanGraph(builder, inputs, missing);
  return compilePlan(plan).outputs.map(({ kind, name, value }, i) => {
    const { width } = outputs[i]!;
    graph.feature = name;
    if (kind === "number") return graph.dense(value.operation);
    if (width === 0) return addEmptyPart(builder, [...inputs.values()][0]!.input);
    return equalToEach(
      builder,
      graph.number(value.operation),
      builder.doubles(Array.from({ length: width }, (_, i) => i)),
    );
  });
}

type Table = ReadonlyMap<string, number>;

class PlanGraph {
  private readonly builder: GraphBuilder;
  private readonly inputs: ReadonlyMap<string, RawInput>;
  private readonly missing: string;
  private readonly numbers = new Map<Operation, string>();
  feature = "";

  constructor(builder: GraphBuilder, inputs: ReadonlyMap<string, RawInput>, missing: string) {
    this.builder = builder;
    this.inputs = inputs;
    this.missing = missing;
  }

  /** Rounds a number to float32; a missing one is 0. */
  dense(operation: Operation): string {
    const value = this.builder.add("Cast", [this.number(operation)], { to: { int: 1 } });
    return this.builder.add("Where", [this.add("IsNaN", value), this.builder.floats([0], []), value]);
  }

  /** Returns a number, or a condition as 1 and 0: float64 `[rows, 1]`, NaN if missing. */
  number(operation: Operation): string {
    const cached = this.numbers.get(operation);
    if (cached !== undefined) return cached;
    const name = this.compute(operation);
    this.numbers.set(operation, name);
    return name;
  }

  private compute(operation: Operation): string {
    const [first, second] = operation.inputs as readonly [Operation, Operation];
    const a = () => this.number(first);
    const b = () => this.number(second);
    switch (operation.op) {
      case "variable":
        return this.inputs.get(operation.name)!.input;
      case "number":
        return this.builder.double(operation.value);
      case "add":
        return this.add("Add", a(), b());
      case "subtract":
        return this.add("Sub", a(), b());
      case "multiply":
        return this.add("Mul", a(), b());
      case "divide":
        return this.where(this.add("Equal", b(), this.double(0)), this.double(Number.NaN), this.add("Div", a(), b()));
      case "less":
        return this.unless(this.add("Add", this.isMissing(first), this.isMissing(second)), this.flag("Less", a(), b()));
      case "floor":
        return this.add("Floor", a());
      case "finite":
        return this.where(this.isBelow(this.add("Abs", a()), Number.POSITIVE_INFINITY), a(), this.double(Number.NaN));
      case "ln": {
        const positive = this.add("Less", this.double(0), a());
        return this.add("Log", this.where(positive, a(), this.double(Number.NaN)));
      }
      case "sin":
        return this.add("Sin", a());
      case "cos": {
        // onnxruntime has no float64 cosine: cos x = 1 - 2 sin² (x / 2).
        const sine = this.add("Sin", this.add("Mul", a(), this.double(0.5)));
        return this.add("Sub", this.double(1), this.add("Mul", this.double(2), this.add("Mul", sine, sine)));
      }
      case "coalesce":
        return this.where(this.add("IsNaN", a()), b(), a());
      case "missing":
        return this.isMissing(first);
      case "booleanNumber":
        return a();
      case "bucketIndex": {
        const { boundaries } = operation;
        if (boundaries.length === 0) return this.unless(this.isMissing(first), this.double(0));
        const below = this.flag("Less", a(), this.builder.doubles(boundaries));
        const sum = this.builder.add("ReduceSum", [below, this.builder.integers([1])]);
        return this.unless(this.isMissing(first), this.add("Sub", this.double(boundaries.length), sum));
      }
      case "clamp": {
        const raised = this.where(this.isBelow(a(), operation.low), this.double(operation.low), a());
        return this.where(this.add("Less", this.double(operation.high), a()), this.double(operation.high), raised);
      }
      case "calendarPart":
        return this.calendarPart(a(), operation.part);
      case "lookup":
        return this.lookup(first, new Map(operation.table));
      case "text":
      case "wholeText":
      case "booleanText":
      case "join":
        throw new Error(`${operation.op} is text, and only lookups read it`);
      case "textLength":
      case "bucketOf":
      case "ngramBuckets":
      case "countIn":
        throw unsupportedStep(this.feature, stepKinds[operation.op]);
    }
  }

  /** Returns 1 where a number or text is missing, otherwise 0: `[rows, 1]`. */
  private isMissing(operation: Operation): string {
    const { op, inputs } = operation;
    if (op === "text") return this.double(0);
    if (op === "join") {
      const parts = inputs.map((part) => this.isMissing(part));
      return parts.reduce((any, part) => this.add("Max", any, part));
    }
    if (op === "coalesce" && isText(operation)) {
      return this.add("Mul", this.isMissing(inputs[0]!), this.isMissing(inputs[1]!));
    }
    if (op === "variable" && this.inputs.get(operation.name)!.type === "string") {
      return this.codeOf(this.inputs.get(operation.name)!.input, [this.missing], [1, 0]);
    }
    if (op === "wholeText") {
      const x = this.number(inputs[0]!);
      const isWhole = this.flag("Equal", x, this.add("Floor", x));
      return this.add(
        "Sub",
        this.double(1),
        this.add("Mul", isWhole, this.flag("Less", this.add("Abs", x), this.double(2 ** 53))),
      );
    }
    return this.flag("IsNaN", this.number(op === "booleanText" ? inputs[0]! : operation));
  }

  /** Returns a text's number in a table; missing if it has none. */
  private lookup(text: Operation, table: Table): string {
    if (table.size === 0) return this.add("Mul", this.isMissing(text), this.double(Number.NaN));
    switch (text.op) {
      case "variable":
        return this.codeOf(this.inputs.get(text.name)!.input, [...table.keys()], [...table.values(), Number.NaN]);
      case "wholeText": {
        // Only these texts are those of a whole number.
        const numeric = [...table].filter(([key]) => String(Number(key)) === key && Number.isSafeInteger(Number(key)));
        return this.valueAt(text.inputs[0]!, new Map(numeric.map(([key, value]) => [Number(key), value])));
      }
      case "booleanText": {
        const flags = [...table].filter(([key]) => key === "true" || key === "false");
        return this.valueAt(text.inputs[0]!, new Map(flags.map(([key, value]) => [Number(key === "true"), value])));
      }
      case "coalesce": {
        const [first, otherwise] = text.inputs as readonly [Operation, Operation];
        return this.where(
          this.add("Equal", this.isMissing(first), this.double(1)),
          this.lookup(otherwise, table),
          this.lookup(first, table),
        );
      }
      case "text":
        return this.double(table.get(text.value) ?? Number.NaN);
      case "join":
        return this.lookupJoined(text.inputs, table);
      default:
        throw new Error(`${text.op} is no text`);
    }
  }

  /** Numbers each part's texts, and looks up the number of their combination. */
  private lookupJoined(parts: readonly Operation[], table: Table): string {
    const keys = [...table.keys()].map((key) => key.split(separator));
    // A text with the separator in it could be split in two ways.
    if (keys.some((key) => key.length !== parts.length)) throw unsupportedStep(this.feature, "cross");
    const codes = parts.map(
      (_, i) => new Map([...new Set(keys.map((key) => key[i]!))].map((text, code) => [text, code])),
    );
    const place = (key: readonly string[]) =>
      key.reduce((sum, text, i) => sum * codes[i]!.size + codes[i]!.get(text)!, 0);
    const places = parts
      .map((part, i) => this.lookup(part, codes[i]!))
      .reduce((sum, code, i) => this.add("Add", this.add("Mul", sum, this.double(codes[i]!.size)), code));
    return this.valueOf(places, new Map(keys.map((key, i) => [place(key), [...table.values()][i]!])));
  }

  private valueAt(operation: Operation, table: ReadonlyMap<number, number>): string {
    return this.valueOf(this.number(operation), table);
  }

  /** Returns a number's value in a table; missing if it has none. */
  private valueOf(x: string, table: ReadonlyMap<number, number>): string {
    if (table.size === 0) return this.add("Mul", x, this.double(Number.NaN));
    const equal = this.flag("Equal", x, this.builder.doubles([...table.keys()]));
    const data = Float64Array.from(table.values());
    const values = this.builder.constant({ type: "double", data, dims: [data.length, 1] });
    // One of the products is not 0, so the sum is exact.
    const value = this.add("MatMul", equal, values);
    const isKnown = this.builder.add("ReduceMax", [equal], { axes: { ints: [1] } });
    return this.where(this.add("Equal", isKnown, this.double(1)), value, this.double(Number.NaN));
  }

  /** @param values one for each key, and the last for every other text */
  private codeOf(input: string, keys: readonly string[], values: readonly number[]): string {
    const code = this.builder.add(
      "LabelEncoder",
      [input],
      {
        keys_strings: { texts: keys },
        values_int64s: { ints: keys.map((_, i) => i) },
        default_int64: { int: keys.length },
      },
      "ai.onnx.ml",
    );
    return this.builder.add("Gather", [this.builder.doubles(values), code], { axis: { int: 0 } });
  }

  private calendarPart(days: string, part: CalendarPart): string {
    const inRange = this.add("Less", this.add("Abs", days), this.double(99e6 + 1));
    return this.where(inRange, addCalendarPart(this.builder, part, days), this.double(Number.NaN));
  }

  private add(op: string, ...inputs: readonly string[]): string {
    return this.builder.add(op, inputs);
  }

  private double(value: number): string {
    return this.builder.double(value);
  }

  private where(condition: string, yes: string, no: string): string {
    return this.add("Where", condition, yes, no);
  }

  private isBelow(x: string, limit: number): string {
    return this.add("Less", x, this.double(limit));
  }

  private flag(op: string, ...inputs: readonly string[]): string {
    return this.builder.add("Cast", [this.add(op, ...inputs)], { to: { int: 11 } });
  }

  private unless(missing: string, value: string): string {
    return this.where(this.add("Equal", missing, this.double(0)), value, this.double(Number.NaN));
  }
}

const stepKinds = { textLength: "length", bucketOf: "hash", ngramBuckets: "ngrams", countIn: "ngrams" } as const;

function isText({ op, inputs }: Operation): boolean {
  return op === "text" || (op === "coalesce" && isText(inputs[1]!));
}
