import { ServiceError } from "../wire";

/**
 * Parses CloudWatch's unstructured filter patterns: terms that are all required, `?term` of which one is required,
 * `-term` which must not occur, and `"quoted phrases"`. Terms are case-sensitive substrings. Patterns on JSON (`{…}`),
 * patterns on fields (`[…]`) and regular expressions (`%…%`) are refused.
 *
 * @throws ServiceError InvalidParameterException
 */
export function parseFilterPattern(pattern: string): (message: string) => boolean {
  const trimmed = pattern.trim();
  if (/^[{[%]/.test(trimmed)) {
    throw new ServiceError(
      "InvalidParameterException",
      400,
      `The embedded CloudWatch Logs filters by terms only; the pattern ${JSON.stringify(trimmed)} is of another kind. Use words or "quoted phrases", with ? or - before them.`,
    );
  }
  const all: string[] = [];
  const any: string[] = [];
  const none: string[] = [];
  for (const [, sign, quoted, word] of trimmed.matchAll(/([?-]?)(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)) {
    const term = quoted?.replace(/\\(.)/g, "$1") ?? word!;
    (sign === "?" ? any : sign === "-" ? none : all).push(term);
  }
  return (message) =>
    all.every((term) => message.includes(term)) &&
    (any.length === 0 || any.some((term) => message.includes(term))) &&
    !none.some((term) => message.includes(term));
}
