import * as fs from "node:fs";
import * as os from "node:os";
import { DiskFullError, isDiskFull } from "./errors";
import { type DuckDbLimits, type DuckDbSession, openDuckDb } from "./session";
import { makeTemporaryFolder } from "./temporary-folder";

/**
 * Runs `work` with a DuckDB in a temporary directory, which is removed afterwards.
 *
 * @throws DiskFullError, and the errors of `work`
 */
export async function withDuckDb<Result>(
  work: (session: DuckDbSession) => Promise<Result>,
  limits: DuckDbLimits = {},
): Promise<Result> {
  const directory = makeTemporaryFolder();
  try {
    const session = await openDuckDb(directory, limits);
    try {
      return await work(session);
    } finally {
      session.close();
    }
  } catch (error) {
    throw isDiskFull(error) ? new DiskFullError(os.tmpdir(), error) : error;
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
