import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { type DuckDbSession, openDuckDb, quoteText } from "../session";

/** Memory of the session; larger data is spilled to disk. */
const memoryMb = 1_024;

/**
 * Runs `work` with a DuckDB that may read only these directories and its own, of which no query can change the
 * settings: a contract's expressions come from anyone in the team.
 */
export async function withGuardedDuckDb<Result>(
  directories: readonly string[],
  work: (session: DuckDbSession) => Promise<Result>,
): Promise<Result> {
  const own = fs.mkdtempSync(path.join(os.tmpdir(), "ringmaster-contract-"));
  try {
    const session = await openDuckDb(own, { memoryMb });
    try {
      const allowed = [...new Set([own, ...directories])].map((one) => quoteText(path.resolve(one))).join(", ");
      await session.run(`SET allowed_directories = [${allowed}]`);
      await session.run("SET enable_external_access = false; SET lock_configuration = true");
      return await work(session);
    } finally {
      session.close();
    }
  } finally {
    fs.rmSync(own, { recursive: true, force: true });
  }
}
