const delimiters = [",", ";", "\t", "|"] as const;

/**
 * Parses names and delimiter of a CSV file from its header alone. Nothing is guessed from a sample of the rows, so a
 * malformed row is an error in that row and never changes how other rows are read. Fields may be quoted with `"` (RFC
 * 4180).
 */
export function parseCsvHeader(line: string): { readonly delimiter: string; readonly names: readonly string[] } {
  const readings = delimiters.map((delimiter) => ({ delimiter, names: fieldsOf(line, delimiter) }));
  return readings.reduce((best, reading) => (reading.names.length > best.names.length ? reading : best));
}

function fieldsOf(line: string, delimiter: string): readonly string[] {
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
