/** Splits a list of values separated by commas. */
export const list = (value: string) => value.split(",").filter(Boolean);

/** Thrown for an option with a wrong value. */
export class BadOptionError extends Error {}

/** @throws BadOptionError if a value of an option is unknown */
export function checked<T extends string>(option: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw new BadOptionError(`--${option} has '${value}', but knows ${known.join(", ")}`);
  return found;
}
