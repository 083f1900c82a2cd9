import type { FormationLine } from "../../test/support/large-gang/formation";

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "--:")), ...rows.map(line)].join("\n");
}

export function formationTable(lines: readonly FormationLine[]): string {
  const columns = [
    "workers",
    "event",
    "time",
    "generations",
    "calls",
    "read units",
    "write units",
    "peak reads/s",
    "peak writes/s",
    "throttles",
  ];
  return table(
    columns,
    lines.map(({ workers, event, ms, generations, store }) => [
      String(workers),
      event,
      ms === undefined ? "not within 20 s" : timeText(ms),
      String(generations),
      ...[
        store.calls,
        store.readUnits,
        store.writeUnits,
        store.peakReadUnits,
        store.peakWriteUnits,
        store.throttles,
      ].map((value) => value.toLocaleString("en-US")),
    ]),
  );
}

function timeText(ms: number): string {
  if (ms < 1) return `${(ms * 1_000).toPrecision(3)} µs`;
  return ms < 1_000 ? `${ms.toPrecision(3)} ms` : `${(ms / 1_000).toPrecision(3)} s`;
}
