import type { FormationLine } from "../../test/support/large-gang/formation";
import type { GoodputLine } from "../../test/support/large-gang/goodput";
import type { SumLine } from "../../test/support/large-gang/sums";
import { sizeText } from "../collective/table";

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "--:")), ...rows.map(line)].join("\n");
}

export function formationTable(lines: readonly FormationLine[]): string {
  const columns = [
    "workers",
    "protocol",
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
    lines.map(({ workers, protocol, event, ms, generations, store }) => [
      String(workers),
      protocol,
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

export function sumTable(lines: readonly SumLine[]): string {
  return table(
    ["workers", "size", "direct", "halving, doubling", "ring*", "two-level*", "chosen"],
    lines.map((line) => [
      String(line.workers),
      sizeText(line.bytes),
      `${timeText(line.direct)}${line.directExecuted ? "" : "*"}`,
      timeText(line.halvingDoubling),
      timeText(line.ring),
      timeText(line.twoLevel),
      line.chosen,
    ]),
  );
}

export function goodputTable(lines: readonly GoodputLine[]): string {
  return table(
    ["workers", "lost an hour, of all", "losses an hour", "time to recover", "goodput"],
    lines.map(({ workers, lossRate, lossesAnHour, recoverMs, goodput }) => [
      String(workers),
      `${lossRate * 100} %`,
      String(Number(lossesAnHour.toPrecision(3))),
      timeText(recoverMs),
      `${(goodput * 100).toFixed(2)} %`,
    ]),
  );
}

function timeText(ms: number): string {
  if (ms < 1) return `${(ms * 1_000).toPrecision(3)} µs`;
  return ms < 1_000 ? `${ms.toPrecision(3)} ms` : `${(ms / 1_000).toPrecision(3)} s`;
}
