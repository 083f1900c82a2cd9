/** Formats a number as evidence shows it: five significant digits, whole numbers with a decimal (`1.0`). */
export function shownNumber(value: number): string {
  const rounded = Number(value.toPrecision(5));
  return Number.isInteger(rounded) && Math.abs(rounded) < 1e15 ? rounded.toFixed(1) : String(rounded);
}

export function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${shownNumber(value)}`;
}

/** Formats an interval: `95 % CI [0.9, 1.0]`. */
export function shownInterval(
  { lower, upper, confidence }: { readonly lower: number; readonly upper: number; readonly confidence: number },
  show: (value: number) => string = shownNumber,
): string {
  return `${Math.round(confidence * 100)} % CI [${show(lower)}, ${show(upper)}]`;
}

/**
 * Formats a comparison: `0.95 < 0.97`; with all digits if five would show both numbers as equal.
 *
 * @param relation relation of the first number to the second
 */
export function compared(value: number, relation: string, limit: number): string {
  const same = shownNumber(value) === shownNumber(limit) && value !== limit;
  const [left, right] = same ? [String(value), String(limit)] : [shownNumber(value), shownNumber(limit)];
  return `${left} ${relation} ${right}`;
}
