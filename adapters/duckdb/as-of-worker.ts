import { parentPort, workerData } from "node:worker_threads";
import { findValues } from "./as-of-search";
import type { SearchAnswer, SearchRequest, SearchThreadData } from "./as-of-threads";
import { EntityNumbers } from "./entity-numbers";
import { openDuckDb } from "./session";

/** The thread that searches views with a DuckDB of its own, until it is terminated. */
const { directory, memoryMb } = workerData as SearchThreadData;
const session = openDuckDb(directory, { memoryMb });

async function answer({ id, search, table, ...labels }: SearchRequest): Promise<SearchAnswer> {
  try {
    return { id, found: await findValues(await session, search, { ...labels, numbers: new EntityNumbers(table) }) };
  } catch (error) {
    return { id, error };
  }
}

parentPort?.on("message", async (request: SearchRequest) => parentPort?.postMessage(await answer(request)));
