import { parentPort, workerData } from "node:worker_threads";
import { createEnumeration } from "./as-of-keys";
import type { EntityLabels } from "./as-of-labels";
import { findValues } from "./as-of-search";
import type { SearchAnswer, SearchLabels, SearchRequest, SearchThreadData } from "./as-of-thread";
import { EntityNumbers } from "./entity-numbers";
import { openDuckDb } from "./session";

/** The thread that searches views with a DuckDB of its own, until it is terminated. */
const { directory, memoryMb } = workerData as SearchThreadData;
const session = openDuckDb(directory, { memoryMb });

/** Names of enumerations that this thread has. */
const enumerations = new Set<string>();
/** The functions that receive the labels of the searches. */
const waiting = new Map<number, (labels: SearchLabels["labels"]) => void>();

async function answer({ id, search }: SearchRequest): Promise<SearchAnswer> {
  let hasLabels = true;
  const labels = new Promise<EntityLabels>((resolve, reject) => {
    waiting.set(id, (given) => {
      hasLabels = given !== undefined;
      if (given === undefined) return reject(new Error("the thread cannot have the labels"));
      const { table, ...some } = given;
      resolve({ ...some, numbers: new EntityNumbers(table) });
    });
  });
  const { enumeration } = search;
  try {
    if (enumeration && !enumerations.has(enumeration.name)) {
      enumerations.add(enumeration.name);
      await createEnumeration(await session, enumeration);
    }
    return { id, found: await findValues(await session, search, labels) };
  } catch (error) {
    return hasLabels ? { id, failure: { error } } : { id };
  }
}

parentPort?.on("message", async (message: SearchRequest | SearchLabels) => {
  if ("search" in message) return parentPort?.postMessage(await answer(message));
  waiting.get(message.id)?.(message.labels);
  waiting.delete(message.id);
});
