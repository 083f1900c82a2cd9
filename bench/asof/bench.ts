import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDbSession, quoteText } from "../../adapters/duckdb/session";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { markdownTable } from "../support/table";
import { featuresPerView, type KeyType, writeData } from "./data";

const views = 5;

interface Round {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

/**
 * Compares as-of joins of five views with chained `polars.join_asof`. `--rows N` (1,000,000), `--customers N` (100,000),
 * `--text` for customers that are texts, `--rounds N` (5), `--json`.
 */
export async function benchAsOf(args: readonly string[]): Promise<void> {
  const given = (option: string, otherwise: number) =>
    args.includes(option) ? Number(args[args.indexOf(option) + 1]) : otherwise;
  const [rows, customers, rounds] = [given("--rows", 1_000_000), given("--customers", 100_000), given("--rounds", 5)];
  const key = args.includes("--text") ? "string" : "int";
  const folder = fs.mkdtempSync(join(tmpdir(), "ringmaster-asof-"));
  try {
    await withDuckDb((session) => writeData(session, folder, { rows, views, customers, key }));
    const own: Round[] = [];
    const peers: Round[] = [];
    let reason = "";
    const [mine, theirs] = [join(folder, "own.parquet"), join(folder, "peer.parquet")];
    for (let round = 0; round < rounds; round += 1) {
      own.push(runOwn(folder, mine, key));
      const peer = runPeer(folder, theirs);
      if (typeof peer === "string") reason = peer;
      else peers.push(peer);
    }
    if (peers.length > 0) await withDuckDb((session) => assertEqual(session, mine, theirs));
    print({ own, peers, reason, rows, customers, key, rounds, json: args.includes("--json") });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one join in a process of its own, whose peak memory is that of the join. */
function runOwn(folder: string, output: string, key: KeyType): Round {
  const script = join(__dirname, "asof-join.js");
  const args = [script, folder, String(views), output, key];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the join failed: ${stderr}`);
  return JSON.parse(stdout) as Round;
}

function runPeer(folder: string, output: string): Round | string {
  const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const script = join(process.cwd(), "bench", "asof", "polars_asof.py");
  const { status, stdout, stderr } = spawnSync(python, [script, folder, String(views), output], { encoding: "utf8" });
  if (status === 0) return JSON.parse(stdout) as Round;
  return `polars was not measured; RINGMASTER_PEERS_PYTHON names a Python that has it: ${stderr.trim().split("\n").at(-1)}\n`;
}

/** @throws Error if a value of a row differs */
async function assertEqual(session: DuckDbSession, own: string, peer: string): Promise<void> {
  const columns = ["customer", '"time"', "label"].concat(
    Array.from(
      { length: views * featuresPerView },
      (_, at) => `f${Math.floor(at / featuresPerView)}_${at % featuresPerView}`,
    ),
  );
  const differs = columns.map((column) => `a.${column} IS DISTINCT FROM b.${column}`).join(" OR ");
  const [found] = await session.rows(
    `SELECT count(*)::DOUBLE AS compared, count_if(${differs})::DOUBLE AS differing
     FROM (SELECT *, file_row_number AS place FROM read_parquet(${quoteText(own)})) AS a
     FULL JOIN (SELECT *, file_row_number AS place FROM read_parquet(${quoteText(peer)})) AS b USING (place)`,
  );
  if (found!["differing"] !== 0)
    throw new Error(`${found!["differing"]} of ${found!["compared"]} rows differ from polars'`);
}

function print(result: {
  readonly own: readonly Round[];
  readonly peers: readonly Round[];
  readonly reason: string;
  readonly rows: number;
  readonly customers: number;
  readonly key: KeyType;
  readonly rounds: number;
  readonly json: boolean;
}): void {
  const { own, peers, reason, rows, customers, key, rounds, json } = result;
  const machine = describeMachine();
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ machine, rows, customers, key, rounds, own, peers, ...(reason ? { reason } : {}) })}\n`,
    );
    return;
  }
  const middle = (all: readonly Round[], of: keyof Round) => median(all.map((one) => one[of]));
  const row = (name: string, all: readonly Round[]) => [
    ...[name, middle(all, "seconds").toFixed(2), middle(all, "cpuSeconds").toFixed(2)],
    Math.max(...all.map(({ peakMiB }) => peakMiB)).toFixed(0),
    peers.length === 0 ? "–" : (middle(all, "seconds") / middle(peers, "seconds")).toFixed(2),
  ];
  process.stdout.write(
    `${machineLine(machine)}\n${rows} labels, ${views} views of ${rows} rows, ${customers} customers (${key}), median of ${rounds}${peers.length > 0 ? ", equal results" : ""}\n\n${markdownTable(
      ["", "seconds", "processor seconds", "peak MiB", "× polars"],
      [row("ringmaster", own), ...(peers.length === 0 ? [] : [row("polars.join_asof", peers)])],
    )}\n${reason}`,
  );
}
