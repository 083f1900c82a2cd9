export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const alignment = columns.map((_, index) => (rows.every((row) => /^[\d.,–]+$/.test(row[index]!)) ? "--:" : "---"));
  return [line(columns), line(alignment), ...rows.map(line)].join("\n");
}
