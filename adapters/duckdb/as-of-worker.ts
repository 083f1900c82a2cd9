import { parentPort, workerData } from "node:worker_threads";
import { createEnumeration, type EntityLabels, findValues } from "./as-of-search";
import type { SearchAnswer, SearchLabels, SearchRequest, SearchThreadData } from "./as-of-threads";
import { EntityNumbers } from "./entity-numbers";
import { openDuckDb } from "./session";

/** The thread that searches views with a DuckDB of its own, until it is terminated. */
const { directory, memoryMb } = workerData as SearchThreadData;
const session = openDuckDb(directory, { memoryMb });

/** Names of enumerations that this thread has. */
const enumerations = new Set<string>();
/** Get the labels of searches. */
const waiting = new Map<number, (labels: SearchLabels["labels"]) => void>();

async function answer({ id, search }: SearchRequest): Promise<SearchAnswer> {
  let isOfUse = true;
  const labels = new Promise<EntityLabels>((resolve, reject) => {
    waiting.set(id, (given) => {
      isOfUse = given !== undefined;
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
    return isOfUse ? { id, failure: { error } } : { id };
  }
}

parentPort?.on("message", async (message: SearchRequest | SearchLabels) => {
  if ("search" in message) return parentPort?.postMessage(await answer(message));
  waiting.get(message.id)?.(message.labels);
  waiting.delete(message.id);
});
