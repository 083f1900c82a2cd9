import { validation } from "../errors";

/**
 * A DynamoDB number: decimal, up to 38 significant digits, magnitude 1e-130 to 9.99…e125. Numbers are kept as canonical
 * strings (no exponent, no unneeded zeros), so equal numbers are equal strings.
 */
export interface Decimal {
  readonly sign: -1 | 0 | 1;
  /** The significant digits. The first and the last are not zero. Empty for zero. */
  readonly digits: string;
  /** The power of ten of the first digit: 150 has digits "15" and exponent 2. */
  readonly exponent: number;
}

const maxDigits = 38;
const maxExponent = 125;
const minExponent = -130;

const plainInteger = /^(?:0|-?[1-9][0-9]{0,14})$/;
const number = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?$/;

/**
 * Returns the canonical form. Throws a ValidationException if the text is not a number or is outside DynamoDB's range.
 */
export function normalizeNumber(text: string): string {
  return plainInteger.test(text) ? text : formatDecimal(checkRange(parseDecimal(text)));
}

export function parseDecimal(text: string): Decimal {
  const match = number.exec(text);
  const whole = match?.[2] ?? "";
  const fraction = match?.[3] ?? "";
  if (!match || whole.length + fraction.length === 0) {
    throw validation(`The parameter cannot be converted to a numeric value${text === "" ? "" : `: ${text}`}`);
  }
  return trimmed(match[1] === "-" ? -1 : 1, whole + fraction, whole.length - 1 + Number(match[4] ?? 0));
}

function trimmed(sign: -1 | 1, allDigits: string, exponent: number): Decimal {
  let start = 0;
  let end = allDigits.length;
  while (start < end && allDigits[start] === "0") start++;
  while (end > start && allDigits[end - 1] === "0") end--;
  if (start === end) return { sign: 0, digits: "", exponent: 0 };
  return { sign, digits: allDigits.slice(start, end), exponent: exponent - start };
}

function checkRange(value: Decimal): Decimal {
  if (value.digits.length > maxDigits) {
    throw validation("Attempting to store more than 38 significant digits in a Number");
  }
  if (value.exponent > maxExponent) {
    throw validation("Number overflow. Attempting to store a number with magnitude larger than supported range");
  }
  if (value.exponent < minExponent) {
    throw validation("Number underflow. Attempting to store a number with magnitude smaller than supported range");
  }
  return value;
}

function formatDecimal({ sign, digits, exponent }: Decimal): string {
  if (sign === 0) return "0";
  const minus = sign < 0 ? "-" : "";
  if (exponent < 0) return `${minus}0.${"0".repeat(-exponent - 1)}${digits}`;
  const wholeLength = exponent + 1;
  if (digits.length <= wholeLength) return minus + digits.padEnd(wholeLength, "0");
  return `${minus}${digits.slice(0, wholeLength)}.${digits.slice(wholeLength)}`;
}

export function compareNumbers(a: string, b: string): number {
  if (plainInteger.test(a) && plainInteger.test(b)) return Number(a) - Number(b);
  const x = parseDecimal(a);
  const y = parseDecimal(b);
  if (x.sign !== y.sign) return x.sign - y.sign;
  if (x.exponent !== y.exponent) return x.sign * (x.exponent - y.exponent);
  if (x.digits === y.digits) return 0;
  // With the same power of ten, digits compare as text, and a prefix is smaller.
  return x.digits < y.digits ? -x.sign : x.sign;
}

/** Returns the exact sum of canonical numbers. Throws if the sum needs more than 38 digits or is out of range. */
export function addNumbers(a: string, b: string): string {
  const x = parseDecimal(a);
  const y = parseDecimal(b);
  const unit = Math.min(unitOf(x), unitOf(y));
  const sum = scaled(x, unit) + scaled(y, unit);
  const text = (sum < 0n ? -sum : sum).toString();
  return formatDecimal(checkRange(trimmed(sum < 0n ? -1 : 1, text, text.length - 1 + unit)));
}

export function subtractNumbers(a: string, b: string): string {
  return addNumbers(a, b.startsWith("-") ? b.slice(1) : `-${b}`);
}

function unitOf(value: Decimal): number {
  return value.exponent - value.digits.length + 1;
}

function scaled(value: Decimal, unit: number): bigint {
  if (value.sign === 0) return 0n;
  return BigInt(value.sign) * BigInt(value.digits + "0".repeat(unitOf(value) - unit));
}
