/** Python's `repr` of a text: in single quotes, unless they alone are in it. */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\n\r\t]/g, (unit) => ({ "\\": "\\\\", "\n": "\\n", "\r": "\\r" })[unit] ?? "\\t");
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}
