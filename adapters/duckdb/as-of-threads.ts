import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Labels } from "../../core/feature-store/replay";
import { type EntityLabels, findValues, type Search } from "./as-of-search";
import type { DuckDbSession } from "./session";

/** Each search holds the values of a view, so there are few at a time. */
const maxThreads = 4;
/** A thread replays one view while DuckDB reads the next rows of the other. */
const searchesOfThread = Number(process.env["SAO"] ?? 2);

export interface SearchThreadData {
  readonly directory: string;
  readonly memoryMb: number;
}

export interface SearchRequest extends Labels {
  readonly id: number;
  readonly search: Search;
  readonly order: Uint32Array;
  /** Numbers of the entities (`EntityNumbers`). */
  readonly table: Int32Array<SharedArrayBuffer>;
}

export interface SearchAnswer {
  readonly id: number;
  readonly columns: FoundColumns;
}

type FoundColumns = readonly Float64Array[];
/** `findValues` */
type Find = (search: Search, labels: EntityLabels) => Promise<FoundColumns>;

export interface ViewSearcher {
  /** Searches at the same time, at most. */
  readonly atOnce: number;
  readonly find: Find;
}

export interface ViewSearcherOptions {
  readonly views: number;
  readonly script?: string | undefined;
}

/**
 * Runs `work` with a searcher of views, which shares them among this thread and others: as many as the host has cores, if
 * the script exists. Texts as entities are searched in this thread, because threads cannot share them.
 */
export async function withViewSearcher<Result>(
  session: DuckDbSession,
  { views, script = join(__dirname, "as-of-worker.js") }: ViewSearcherOptions,
  work: (searcher: ViewSearcher) => Promise<Result>,
): Promise<Result> {
  const others = existsSync(script) ? Math.min(views, availableParallelism(), maxThreads) - 1 : 0;
  // Together half of the memory of this thread's DuckDB.
  const memoryMb = Math.ceil(session.memoryMb / (2 * others));
  const threads = Array.from({ length: others }, (_, index) => {
    const workerData: SearchThreadData = { directory: join(session.directory, `search-${index}`), memoryMb };
    return startThread(script, workerData);
  });
  const here: Find = (search, labels) => findValues(session, search, labels);
  const idle = Array.from({ length: searchesOfThread }, () => [here, ...threads.map(({ find }) => find)]).flat();
  const find: Find = async (search, labels) => {
    const free = idle.shift()!;
    try {
      return await (labels.numbers.table === undefined ? here : free)(search, labels);
    } finally {
      idle.push(free);
    }
  };
  try {
    return await work({ atOnce: idle.length, find });
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread(script: string, workerData: SearchThreadData) {
  const worker = new Worker(script, { workerData });
  const answers = new Map<number, (columns: FoundColumns) => void>();
  let searches = 0;
  const failed = new Promise<never>((_, reject) => {
    worker.on("error", reject);
    worker.on("exit", () => reject(new Error("a thread that searches views ended")));
  });
  // Each search waits for it, but there may be none.
  failed.catch(() => undefined);
  worker.on("message", ({ id, columns }: SearchAnswer) => {
    answers.get(id)!(columns);
    answers.delete(id);
  });
  const find: Find = (search, { numbers, ...labels }) => {
    const id = searches;
    searches += 1;
    worker.postMessage({ ...labels, id, search, table: numbers.table! } satisfies SearchRequest);
    return Promise.race([new Promise<FoundColumns>((resolve) => answers.set(id, resolve)), failed]);
  };
  return { worker, find };
}
