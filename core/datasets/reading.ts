import * as z from "zod";

/** Rules for reading text from a file: tokens for missing values, and formats of dates. */

/** Tokens as people write them in YAML: `null` and numbers mean their text. */
export const missingTokens = z
  .array(z.union([z.string().max(64), z.number(), z.null()]).transform(String))
  .max(100)
  .transform((tokens) => [...new Set(tokens.map((token) => token.trim()))].filter((token) => token !== ""));

/** The conversion specifiers of DuckDB's `strptime`. */
const specifier = /%(-?[dmyHIMSj]|[abBYpfgnzZ%])/g;

/** Returns the rule that a timestamp's format breaks; `undefined` if it breaks none. */
export function formatProblem(format: string): string | undefined {
  const rest = format.replaceAll(specifier, "");
  if (rest.includes("%")) {
    const unknown = rest.slice(rest.indexOf("%"), rest.indexOf("%") + 2);
    return `must have only specifiers of DuckDB's strptime such as %d, %m, %Y, %H, %M and %S, and ${unknown} is none`;
  }
  if (!/%-?[Yy]/.test(format.replaceAll("%%", ""))) return "must have a year, %Y or %y, e.g. %d/%m/%Y";
  return undefined;
}

/** Lists tokens for a message: `"NA", "?"`. */
export function listTokens(tokens: readonly string[]): string {
  return tokens.map((token) => JSON.stringify(token)).join(", ");
}
