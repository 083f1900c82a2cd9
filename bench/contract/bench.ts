import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { checkContract } from "../../adapters/duckdb/contract/check";
import { profileColumns } from "../../adapters/duckdb/profile";
import { quoteText } from "../../adapters/duckdb/session";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { parseDataContract } from "../../core/datasets/contract/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { markdownTable } from "../support/table";

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

interface Round {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly counts: readonly (number | null)[];
}

/** Compares a profile and twelve rules with polars. `--rounds N` (5), `--json` for machines. */
export async function benchContract(args: readonly string[]): Promise<void> {
  const rounds = Number(args.includes("--rounds") ? args[args.indexOf("--rounds") + 1] : 5);
  if (!fs.existsSync(file)) throw new Error(`${file} is not there: npm install`);
  const own: Round[] = [];
  const peers: Round[] = [];
  let reason = "";
  for (let round = 0; round < rounds; round += 1) {
    own.push(await measure());
    const peer = runPeer();
    if (typeof peer === "string") reason = peer;
    else peers.push(peer);
  }
  const counts = own[0]!.counts;
  const different = peers[0]?.counts.findIndex((count, rule) => count !== counts[rule]) ?? -1;
  if (different >= 0)
    throw new Error(`rule ${different}: ${counts[different]} rows, but polars ${peers[0]!.counts[different]}`);
  const middle = (all: readonly Round[], of: "seconds" | "cpuSeconds") => median(all.map((one) => one[of]));
  const machine = describeMachine();
  if (args.includes("--json")) {
    process.stdout.write(`${JSON.stringify({ machine, rounds, own, peers, ...(reason ? { reason } : {}) })}\n`);
    return;
  }
  const row = (name: string, all: readonly Round[]) => [
    name,
    middle(all, "seconds").toFixed(2),
    middle(all, "cpuSeconds").toFixed(2),
    peers.length === 0 ? "–" : (middle(all, "seconds") / middle(peers, "seconds")).toFixed(2),
  ];
  process.stdout.write(
    `${machineLine(machine)}\nprofile of 5 columns and ${contract.rules.length} rules, ${rowCount} rows, median of ${rounds}\n\n${markdownTable(
      ["", "seconds", "processor seconds", "× polars"],
      [row("ringmaster", own), ...(peers.length === 0 ? [] : [row("polars", peers)])],
    )}\n${reason}`,
  );
}

async function measure(): Promise<Round> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await withDuckDb((session) => profileColumns(session, `read_parquet(${quoteText(file)})`, schema, rowCount));
  const context = {
    dataset: {},
    at: "2001-12-31T00:00:00.000Z",
    others: new Map(),
    objects: { getContent: neverRead },
  };
  const report = await checkContract(contract, { schema, rowCount, files: [file] }, context);
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: (performance.now() - start) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    counts: report.outcomes.map(({ rows }) => rows ?? null),
  };
}

function neverRead(): Promise<Uint8Array> {
  throw new Error("no rule reads another version");
}

/** Runs polars in a process of its own; its time does not include the start. */
function runPeer(): Round | string {
  const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const script = join(process.cwd(), "bench", "contract", "polars_profile.py");
  const { status, stdout, stderr } = spawnSync(python, [script, file], { encoding: "utf8" });
  if (status === 0) return JSON.parse(stdout) as Round;
  return `polars was not measured; RINGMASTER_PEERS_PYTHON names a Python that has it: ${stderr.trim().split("\n").at(-1)}\n`;
}
