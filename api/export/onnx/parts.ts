import type { CalendarPart } from "../../../core/feature-plans/dialects";
import type { TimestampPart } from "../../../core/features/shapes";
import type { GraphBuilder } from "./builder";

const day = 86_400_000;

/**
 * A raw column as an input: `string`, a tensor as `float`, else `double` (bool 1 and 0, times in ms). Missing is NaN.
 */
export interface RawInput {
  /** Name of the input: the column's, unless it is in use. */
  readonly input: string;
  readonly column: string;
  readonly type: "string" | "double" | "float";
  /** Shape of one row: `[1]`, or a tensor's. */
  readonly shape: readonly number[];
}

export function addEmptyPart(builder: GraphBuilder, input: string): string {
  const none = builder.constant({ type: "float", data: new Float32Array(0), dims: [1, 0] });
  const rows = builder.add("Gather", [builder.add("Shape", [input]), builder.integers([0])], { axis: { int: 0 } });
  return builder.add("Expand", [none, builder.add("Concat", [rows, builder.integers([0])], { axis: { int: 0 } })]);
}

/** Maps `[rows, 1]` and `[width]` to `[rows, width]`, 1 where equal. */
export function equalToEach(builder: GraphBuilder, value: string, known: string): string {
  return builder.add("Cast", [builder.add("Equal", [value, known])], { to: { int: 1 } });
}

/** Computes a part of a time. Whole numbers in float64 are exact here; NaN stays NaN, which equals nothing. */
export function addPart(builder: GraphBuilder, part: TimestampPart, time: string): string {
  const { plus, wholeOf, modulo } = arithmeticOf(builder);
  if (part === "hour") return modulo(wholeOf(time, day / 24), 24);
  const days = wholeOf(time, day);
  if (part === "dayOfWeek") return modulo(plus(days, 4), 7); // 1970-01-01 was a Thursday
  return addCalendarPart(builder, part, days);
}

/**
 * A part of a date by its days since 1970-01-01 (H. Hinnant, civil_from_days: years start in March, eras of 400 years).
 */
export function addCalendarPart(builder: GraphBuilder, part: CalendarPart, days: string): string {
  const { plus, minus, times, wholeOf, modulo, isEqual } = arithmeticOf(builder);
  const shifted = plus(days, 719_468);
  const dayOfEra = modulo(shifted, 146_097);
  const leapDays = minus(
    plus(wholeOf(dayOfEra, 36_524), times(wholeOf(dayOfEra, 1_460), -1)),
    wholeOf(dayOfEra, 146_096),
  );
  const yearOfEra = wholeOf(plus(dayOfEra, leapDays), 365);
  const daysBefore = minus(plus(times(yearOfEra, 365), wholeOf(yearOfEra, 4)), wholeOf(yearOfEra, 100));
  const dayFromMarch = minus(dayOfEra, daysBefore);
  const monthFromMarch = wholeOf(plus(times(dayFromMarch, 5), 2), 153);
  if (part === "month") return plus(modulo(plus(monthFromMarch, 2), 12), 1);
  if (part === "day") return plus(minus(dayFromMarch, wholeOf(plus(times(monthFromMarch, 153), 2), 5)), 1);
  // January and February are the 11th and 12th month of the year before.
  const isNextYear = wholeOf(monthFromMarch, 10);
  const year = plus(plus(yearOfEra, times(wholeOf(shifted, 146_097), 400)), isNextYear);
  if (part === "year") return year;
  const isMultiple = (by: number) => isEqual(modulo(year, by), 0);
  const isLeap = plus(minus(isMultiple(4), isMultiple(100)), isMultiple(400));
  // 1 March is day 60, or 61 of a leap year; 1 January is 306 days after 1 March.
  const fromJanuary = plus(plus(dayFromMarch, isLeap), 60);
  return minus(fromJanuary, times(isNextYear, plus(isLeap, 365)));
}

function arithmeticOf(builder: GraphBuilder) {
  const op = (name: string) => (a: string, b: string | number) =>
    builder.add(name, [a, typeof b === "number" ? builder.double(b) : b]);
  const [plus, minus, times, over, equal] = [op("Add"), op("Sub"), op("Mul"), op("Div"), op("Equal")];
  const wholeOf = (a: string, by: number) => builder.add("Floor", [over(a, by)]);
  const modulo = (a: string, by: number) => minus(a, times(wholeOf(a, by), by));
  const isEqual = (a: string, b: number) => builder.add("Cast", [equal(a, b)], { to: { int: 11 } });
  return { plus, minus, times, wholeOf, modulo, isEqual };
}
