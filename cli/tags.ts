import { InvalidInputError, type Problem } from "../core/errors";

/** Parses `key=value` pairs. @throws InvalidInputError with every invalid pair and every repeated key */
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
  const keys = given.map((one) => one.slice(0, Math.max(0, one.indexOf("="))));
  const problems = given.flatMap((value, index): readonly Problem[] => {
    const problem = { path: "key=value", value };
    if (keys[index] === "") return [{ ...problem, rule: "must be KEY=VALUE" }];
    return keys.indexOf(keys[index]!) < index ? [{ ...problem, rule: "must be the only value of its key" }] : [];
  });
  if (problems.length > 0) throw new InvalidInputError("the arguments are not valid", problems);
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf("=");
      const value = one.slice(at + 1);
      return [one.slice(0, at), value === "" && options?.emptyRemoves ? null : value];
    }),
  );
}
