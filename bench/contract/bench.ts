import * as fs from "node:fs";
import { join } from "node:path";
import { checkContract } from "../../adapters/duckdb/contract/check";
import { profileColumns } from "../../adapters/duckdb/profile";
import { quoteText } from "../../adapters/duckdb/session";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { parseDataContract } from "../../core/datasets/contract/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { parseOptions } from "../support/arguments";
import { runPeerScript } from "../support/peer-python";
import { alternate, comparison, type Round } from "../support/peer-rounds";
import { startReport } from "../support/report";

const file = join(process.cwd(), "node_modules/vega-datasets/data/flights-3m.parquet");
const rowCount = 3_000_000;
const schema = (
  [
    ["date", "timestamp"],
    ["delay", "int"],
    ["distance", "int"],
    ["origin", "string"],
    ["destination", "string"],
  ] as const
).map(([name, type]): ColumnSchema => ({ name, type, role: "feature" }));

/** Twelve rules, in the order in which `polars_profile.py` has them. */
const contract = parseDataContract(`rules:
  - {rule: rowCount, minimum: 1000000}
  - {rule: type, column: delay, type: int}
  - {rule: notNull, column: delay}
  - {rule: notNull, column: date}
  - {rule: range, column: delay, minimum: -100, maximum: 1000}
  - {rule: range, column: date, minimum: '2001-01-01', maximum: '2001-12-31'}
  - {rule: pattern, column: origin, pattern: '[A-Z]{3}'}
  - {rule: length, column: destination, minimum: 3, maximum: 3}
  - {rule: values, column: origin, values: [ATL, ORD, DFW, LAX, PHX, DEN, DTW, IAH, LAS, MSP], tolerance: 0.9}
  - {rule: expression, expression: origin <> destination and distance > 0}
  - {rule: freshness, column: date, maxAge: 52w}
  - {rule: statistic, column: delay, statistic: mean, minimum: 0, maximum: 20}
`);

interface CountedRound extends Round {
  readonly counts: readonly (number | null)[];
}

/** Compares a profile and twelve rules with polars. `--rounds N` (5), `--json` for machines. */
export async function benchContract(args: readonly string[]): Promise<void> {
  const { rounds, json } = parseOptions(args, { rounds: 5 });
  if (!fs.existsSync(file)) throw new Error(`${file} is not there: npm install`);
  const report = startReport(json);
  const measured = await alternate(rounds, measure, () =>
    runPeerScript<CountedRound>("contract/polars_profile.py", [file]),
  );
  const [own, peer] = [measured.own[0]!.counts, measured.peers[0]?.counts];
  const different = peer?.findIndex((count, rule) => count !== own[rule]) ?? -1;
  if (different >= 0) throw new Error(`rule ${different}: ${own[different]} rows, but polars ${peer![different]}`);
  report(
    { rounds, ...measured },
    `profile of 5 columns and ${contract.rules.length} rules, ${rowCount} rows, median of ${rounds}`,
    "",
    comparison(measured, "polars"),
    ...(measured.reason ? [measured.reason] : []),
  );
}

async function measure(): Promise<CountedRound> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await withDuckDb((session) => profileColumns(session, `read_parquet(${quoteText(file)})`, schema, rowCount));
  const context = {
    dataset: {},
    at: "2001-12-31T00:00:00.000Z",
    others: new Map(),
    objects: { getContent: neverRead },
  };
  const checked = await checkContract(contract, { schema, rowCount, files: [file] }, context);
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: (performance.now() - start) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    counts: checked.outcomes.map(({ rows }) => rows ?? null),
  };
}

function neverRead(): Promise<Uint8Array> {
  throw new Error("no rule reads another version");
}
