import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { mapLimited } from "../../core/each-limited";
import type { Labels } from "../../core/feature-store/replay";
import { type EntityLabels, type FoundValues, findValues, type Search } from "./as-of-search";
import type { DuckDbSession } from "./session";

/** Searches at the same time. Each holds the values of a view, so there are few. */
const maxSearches = 4;

export interface SearchThreadData {
  readonly directory: string;
  readonly memoryMb: number;
}

export interface SearchRequest extends Labels {
  readonly id: number;
  readonly search: Search;
  /** Numbers of the entities (`EntityNumbers`). */
  readonly table: Int32Array<SharedArrayBuffer>;
}

export type SearchAnswer = { readonly id: number } & ({ readonly found: FoundValues } | { readonly error: unknown });

/** `findValues` */
type Find = (search: Search, labels: EntityLabels) => Promise<FoundValues>;

export interface ViewSearch {
  readonly search: Search;
  readonly labels: EntityLabels;
  /** Whether the search needs this session's DuckDB. */
  readonly isLocal: boolean;
}

/** Returns what each search finds (`findValues`). */
export type FindAll = (searches: readonly ViewSearch[]) => Promise<readonly FoundValues[]>;

export interface ViewSearcherOptions {
  readonly views: number;
  readonly script?: string | undefined;
}

/**
 * Runs `work` with a searcher of views, which shares them among this thread and others: as many as DuckDB has, if the
 * script exists. Entities that are texts or large numbers are searched in this
 * thread, because threads cannot share them.
 */
export async function withViewSearcher<Result>(
  session: DuckDbSession,
  { views, script = join(__dirname, "as-of-worker.js") }: ViewSearcherOptions,
  work: (findAll: FindAll) => Promise<Result>,
): Promise<Result> {
  const others = existsSync(script) ? Math.min(views, session.threads, maxSearches) - 1 : 0;
  // Half of the memory of this thread's DuckDB, for all of them together.
  const memoryMb = Math.ceil(session.memoryMb / (2 * others));
  const threads = Array.from({ length: others }, (_, index) => {
    const workerData: SearchThreadData = { directory: join(session.directory, `search-${index}`), memoryMb };
    return startThread(script, workerData);
  });
  const here: Find = (search, labels) => findValues(session, search, labels);
  const all = [here, ...threads.map(({ find }) => find)];
  // A thread replays rows of one view while DuckDB reads those of another.
  const idle = [...all, ...all].slice(0, maxSearches);
  const searched: Promise<FoundValues>[] = [];
  let isOver = false;
  const find = async ({ search, labels, isLocal }: ViewSearch) => {
    if (isOver) throw new Error("another search has failed");
    const free = idle.shift()!;
    const found = (isLocal || labels.numbers.table === undefined ? here : free)(search, labels);
    searched.push(found);
    try {
      return await found;
    } finally {
      idle.push(free);
    }
  };
  const findAll: FindAll = async (searches) => {
    // One thread reads rows in their order.
    await session.run("SET threads = 1");
    try {
      return await mapLimited(searches, idle.length, find);
    } finally {
      isOver = true;
      // A query waits for the thread that visits its chunks, so no thread ends before its searches.
      await Promise.allSettled(searched);
      await session.run(`SET threads = ${session.threads}`);
    }
  };
  try {
    return await work(findAll);
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread(script: string, workerData: SearchThreadData) {
  const worker = new Worker(script, { workerData });
  const waiting = new Map<number, { resolve(found: FoundValues): void; reject(error: unknown): void }>();
  let searches = 0;
  let end: unknown;
  const fail = (error: unknown) => {
    end ??= error;
    for (const { reject } of waiting.values()) reject(end);
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(new Error(`a thread that searches views ended with code ${code}`)));
  worker.on("message", (answer: SearchAnswer) => {
    const { resolve, reject } = waiting.get(answer.id)!;
    waiting.delete(answer.id);
    if ("error" in answer) reject(answer.error);
    else resolve(answer.found);
  });
  const find: Find = (search, { numbers, ...labels }) =>
    new Promise((resolve, reject) => {
      if (end !== undefined) return reject(end);
      const id = searches;
      searches += 1;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...labels, id, search, table: numbers.table! } satisfies SearchRequest);
    });
  return { worker, find };
}
