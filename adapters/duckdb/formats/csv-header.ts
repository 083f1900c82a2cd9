const delimiters = [",", ";", "\t", "|"] as const;

/**
 * Parses names and delimiter of a CSV file from its header alone. Nothing is guessed from a sample of the rows, so a
 * malformed row is an error in that row and never changes how other rows are read. Fields may be quoted with `"` (RFC
 * 4180). First columns without a name, as pandas and R write row names, are called `column_1`, `column_2` and so on. Empty
 * names at the end are omitted: DuckDB reads rows with further fields only if these are empty.
 */
export function parseCsvHeader(line: string): { readonly delimiter: string; readonly names: readonly string[] } {
  const readings = delimiters.map((delimiter) => ({ delimiter, names: splitFields(line, delimiter) }));
  const { delimiter, names } = readings.reduce((best, reading) =>
    reading.names.length > best.names.length ? reading : best,
  );
  const first = names.findIndex((name) => name !== "");
  if (first < 0) return { delimiter, names };
  const named = names.map((name, index) => (index < first ? `column_${index + 1}` : name));
  return { delimiter, names: named.slice(0, named.findLastIndex((name) => name !== "") + 1) };
}

export function splitFields(line: string, delimiter: string): readonly string[] {
  const fields: string[] = [];
  let field = "";
  let quoted = false;
  for (let i = 0; i < line.length; i += 1) {
    const character = line[i];
    if (character === '"') {
      if (quoted && line[i + 1] === '"') {
        field += '"';
        i += 1;
      } else quoted = !quoted;
    } else if (character === delimiter && !quoted) {
      fields.push(field);
      field = "";
    } else field += character;
  }
  fields.push(field);
  return fields.map((name) => name.trim());
}

export function problemOfNames(names: readonly string[]): string | undefined {
  const empty = names.indexOf("");
  if (empty >= 0)
    return `must name each column, and the name of column ${empty + 1} of ${names.length} is empty; name it or remove the column`;
  const seen = new Map<string, string>();
  for (const name of names) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier === name && names.every((one) => Number.isFinite(Number(one))))
      return "must begin with the names of its columns, and its first line has only numbers; add a line of names";
    if (earlier === name)
      return `must name each column once, and has ${JSON.stringify(name)} twice; rename one of them`;
    if (earlier !== undefined) {
      return `must have names that differ in more than case, and has ${JSON.stringify(earlier)} and ${JSON.stringify(name)}; rename one of them`;
    }
    seen.set(name.toLowerCase(), name);
  }
  return undefined;
}
