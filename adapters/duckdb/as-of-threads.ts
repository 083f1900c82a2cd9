import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { FoundRows, Labels } from "../../core/feature-store/replay";
import { type EntityLabels, findValues, type Search } from "./as-of-search";
import type { DuckDbSession } from "./session";

/** Searches at the same time. Each holds the values of a view, so there are few. */
const maxSearches = 4;
/** 128 MB. */
const defaultMaxEarlyNumbers = 1 << 24;

export interface SearchThreadData {
  readonly directory: string;
  readonly memoryMb: number;
}

/** A search, whose labels follow. */
export interface SearchRequest {
  readonly id: number;
  readonly search: Search;
}

/** The labels of a search. */
export interface SearchLabels {
  readonly id: number;
  /** Absent if the thread cannot have the labels, so that the search is of no use. */
  readonly labels?: Labels & {
    /** Numbers of the entities (`EntityNumbers`). */
    readonly table: Int32Array<SharedArrayBuffer>;
  };
}

export interface SearchAnswer {
  readonly id: number;
  /** Absent if the thread cannot have the labels. */
  readonly found?: FoundRows;
  readonly failure?: { readonly error: unknown };
}

/** `findValues`; `undefined` if the thread cannot have the labels */
type Find = (search: Search, labels: Promise<EntityLabels>) => Promise<FoundRows | undefined>;

export interface ViewSearch {
  readonly search: Search;
  /** Index of the labels that `FindAll` reads. */
  readonly labels: number;
  /** Whether the search needs this session's enumeration. */
  readonly isLocal: boolean;
}

/** Reads the labels, and returns what each search finds (`findValues`). */
export type FindAll = (
  searches: readonly ViewSearch[],
  read: () => Promise<readonly EntityLabels[]>,
) => Promise<readonly FoundRows[]>;

export interface ViewSearcherOptions {
  readonly views: number;
  readonly script?: string | undefined;
  /** Numbers of a view up to which its rows are read before the labels are known, and kept until then. */
  readonly maxEarlyNumbers?: number | undefined;
}

/**
 * Runs `work` with a searcher of views, which shares them among this thread and others: as many as DuckDB has, if the
 * script exists. The others read rows of views while this thread reads the labels. Entities that are large numbers, or a
 * great many texts, are searched in this thread, because threads cannot share them.
 */
export async function withViewSearcher<Result>(
  session: DuckDbSession,
  { views, script = join(__dirname, "as-of-worker.js"), maxEarlyNumbers = defaultMaxEarlyNumbers }: ViewSearcherOptions,
  work: (findAll: FindAll) => Promise<Result>,
): Promise<Result> {
  const others = existsSync(script) ? Math.min(views, session.threads, maxSearches) - 1 : 0;
  // Half of the memory of this thread's DuckDB, for all of them together.
  const memoryMb = Math.ceil(session.memoryMb / (2 * others));
  const threads = Array.from({ length: others }, (_, index) => {
    const workerData: SearchThreadData = { directory: join(session.directory, `search-${index}`), memoryMb };
    return startThread(script, workerData);
  });
  try {
    return await work((searches, read) => shareSearches({ session, threads, maxEarlyNumbers }, searches, read));
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

/**
 * Divides searches among this thread and the others. A thread takes the next search as soon as it is free: the others from
 * those that threads can share, this one first from those that they cannot.
 *
 * @param maxEarlyNumbers numbers of a view up to which another thread may begin its search before the labels are known
 */
async function shareSearches(
  {
    session,
    threads,
    maxEarlyNumbers,
  }: {
    readonly session: DuckDbSession;
    readonly threads: readonly { readonly find: Find }[];
    readonly maxEarlyNumbers: number;
  },
  searches: readonly ViewSearch[],
  read: () => Promise<readonly EntityLabels[]>,
): Promise<readonly FoundRows[]> {
  const here = (search: Search, labels: Promise<EntityLabels>) => findValues(session, search, labels);
  let labels: readonly EntityLabels[] | undefined;
  const reading = read().then(async (found) => {
    // One thread reads rows in their order.
    await session.run("SET threads = 1");
    labels = found;
    return found;
  });
  const left = new Set(searches);
  const found = new Map<ViewSearch, FoundRows>();
  /** Whether another thread may take a search. Before the labels are known, only a small view is worth the memory. */
  const isShared = ({ search, isLocal, labels: index }: ViewSearch) => {
    if (isLocal) return false;
    if (labels !== undefined) return labels[index]!.numbers.table !== undefined;
    return search.viewRows * (4 + search.values.length + (search.windows?.columns.length ?? 0)) <= maxEarlyNumbers;
  };
  /** Takes searches one after another, until the labels are known and none is left. */
  const take = async (find: Find, mayTake: (one: ViewSearch) => boolean) => {
    for (;;) {
      const next = [...left].find(mayTake);
      if (next === undefined) {
        if (labels !== undefined) return;
        await reading;
        continue;
      }
      left.delete(next);
      const ofNext = reading.then((read) => read[next.labels]!);
      found.set(next, (await find(next.search, ofNext)) ?? (await here(next.search, ofNext)));
    }
  };
  /** Takes the searches that no other thread can take; without other threads, all. */
  const takeHere = async () => {
    await reading;
    await take(here, (one) => !isShared(one));
    if (threads.length === 0) await take(here, () => true);
  };
  const taken = [
    ...threads.map(({ find }) => take(find, isShared)),
    // This thread replays rows of one view while DuckDB reads those of another.
    takeHere(),
    takeHere().then(() => take(here, () => true)),
  ];
  try {
    await Promise.all(taken);
    return searches.map((one) => found.get(one)!);
  } finally {
    left.clear();
    // A query waits for the thread that visits its chunks, so no thread ends before its searches.
    await Promise.allSettled(taken);
    await session.run(`SET threads = ${session.threads}`);
  }
}

function startThread(script: string, workerData: SearchThreadData) {
  const worker = new Worker(script, { workerData });
  const waiting = new Map<number, { resolve(found: FoundRows | undefined): void; reject(error: unknown): void }>();
  let searches = 0;
  let end: unknown;
  const fail = (error: unknown) => {
    end ??= error;
    for (const { reject } of waiting.values()) reject(end);
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(new Error(`a thread that searches views ended with code ${code}`)));
  worker.on("message", ({ id, found, failure }: SearchAnswer) => {
    const { resolve, reject } = waiting.get(id)!;
    waiting.delete(id);
    if (failure) reject(failure.error);
    else resolve(found);
  });
  const find: Find = (search, labels) =>
    new Promise((resolve, reject) => {
      if (end !== undefined) return reject(end);
      const id = searches;
      searches += 1;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, search } satisfies SearchRequest);
      const send = (message: SearchLabels) => worker.postMessage(message);
      labels.then(
        ({ numbers: { table }, ...some }) => send({ id, ...(table ? { labels: { ...some, table } } : {}) }),
        () => send({ id }),
      );
    });
  return { worker, find };
}
