/** Python's `repr` of a text: in single quotes, unless they alone are in it. */
export function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\n\r\t]/g, (unit) => ({ "\\": "\\\\", "\n": "\\n", "\r": "\\r" })[unit] ?? "\\t");
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

/** JSON as `json.dumps` writes it: what a client reads may hold it as a text against its own. Numbers must be whole. */
export function pythonDumps(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonDumps).join(", ")}]`;
  if (value === null || typeof value !== "object") {
    return JSON.stringify(value ?? null).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }
  return `{${Object.entries(value)
    .map(([name, member]) => `${pythonDumps(name)}: ${pythonDumps(member)}`)
    .join(", ")}}`;
}
