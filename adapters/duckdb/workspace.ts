import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { type DuckDbSession, openDuckDb } from "./session";

/** Runs `work` with a DuckDB in a temporary directory, which goes with it. */
export async function withDuckDb<Result>(work: (session: DuckDbSession) => Promise<Result>): Promise<Result> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "ringmaster-duckdb-"));
  try {
    const session = await openDuckDb(directory);
    try {
      return await work(session);
    } finally {
      session.close();
    }
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
