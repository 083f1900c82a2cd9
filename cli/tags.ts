import { InvalidInputError } from "../core/errors";

/**
 * Parses `key=value` pairs; the value is everything after the first `=`.
 *
 * @throws InvalidInputError with every invalid pair
 */
export function tagsOf(given: readonly string[]): Record<string, string>;
/** `key=` removes a tag. */
export function tagsOf(
  given: readonly string[],
  options: { readonly emptyRemoves: true },
): Record<string, string | null>;
export function tagsOf(
  given: readonly string[],
  options?: { readonly emptyRemoves: true },
): Record<string, string | null> {
  const wrong = given.filter((one) => one.indexOf("=") < 1);
  if (wrong.length > 0) {
    const rule = "must be KEY=VALUE";
    throw new InvalidInputError(
      "the arguments are not valid",
      wrong.map((value) => ({ path: "key=value", value, rule })),
    );
  }
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf("=");
      const value = one.slice(at + 1);
      return [one.slice(0, at), value === "" && options?.emptyRemoves ? null : value];
    }),
  );
}
