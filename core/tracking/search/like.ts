/**
 * SQL's LIKE as a function: `%` is any text, `_` any one character, everything else itself; there is no escape. Two pointers, and going back only
 * to the last `%`, so that the time is at most text × pattern whatever the pattern (a regular expression of many `.*` would take a power of that).
 */
export function likeMatcher(pattern: string, ignoreCase: boolean): (text: string) => boolean {
  const wanted = [...(ignoreCase ? pattern.toLowerCase() : pattern)];
  const literal = wanted.every((one) => one !== "%" && one !== "_");
  if (literal) {
    const whole = wanted.join("");
    return (text) => (ignoreCase ? text.toLowerCase() : text) === whole;
  }
  return (text) => matches([...(ignoreCase ? text.toLowerCase() : text)], wanted);
}

function matches(text: readonly string[], pattern: readonly string[]): boolean {
  let at = 0;
  let wanted = 0;
  /** After the last `%`, and where in the text what follows it was tried. */
  let resume = -1;
  let tried = 0;
  while (at < text.length) {
    if (wanted < pattern.length && pattern[wanted] === "%") {
      wanted += 1;
      resume = wanted;
      tried = at;
    } else if (wanted < pattern.length && (pattern[wanted] === "_" || pattern[wanted] === text[at])) {
      at += 1;
      wanted += 1;
    } else if (resume >= 0) {
      wanted = resume;
      tried += 1;
      at = tried;
    } else return false;
  }
  while (pattern[wanted] === "%") wanted += 1;
  return wanted === pattern.length;
}
