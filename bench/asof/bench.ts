import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDbSession, quoteText } from "../../adapters/duckdb/session";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { parseOptions } from "../support/arguments";
import { runPeerScript } from "../support/peer-python";
import { alternate, comparison, type Round } from "../support/peer-rounds";
import { startReport } from "../support/report";
import { featuresPerView, type KeyType, writeData } from "./data";

const views = 5;

/**
 * Compares as-of joins of five views with chained `polars.join_asof`. `--rows N` (1,000,000), `--customers N` (100,000),
 * `--text` for customers that are texts, `--rounds N` (5), `--json`.
 */
export async function benchAsOf(args: readonly string[]): Promise<void> {
  const { rows, customers, rounds, text, json } = parseOptions(args, {
    ...{ rows: 1_000_000, customers: 100_000, rounds: 5 },
    text: false,
  });
  const key = text ? "string" : "int";
  const report = startReport(json);
  const folder = fs.mkdtempSync(join(tmpdir(), "ringmaster-asof-"));
  try {
    await withDuckDb((session) => writeData(session, folder, { rows, views, customers, key }));
    const [mine, theirs] = [join(folder, "own.parquet"), join(folder, "peer.parquet")];
    const measured = await alternate(
      rounds,
      () => runOwn(folder, mine, key),
      () => runPeerScript<Round>("asof/polars_asof.py", [folder, views, theirs]),
    );
    const compared = measured.peers.length > 0;
    if (compared) await withDuckDb((session) => assertEqual(session, mine, theirs));
    const data = `${rows} labels, ${views} views of ${rows} rows, ${customers} customers (${key})`;
    report(
      { rows, customers, key, rounds, ...measured },
      `${data}, median of ${rounds}${compared ? ", equal results" : ""}`,
      "",
      comparison(measured, "polars.join_asof"),
      ...(measured.reason ? [measured.reason] : []),
    );
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
