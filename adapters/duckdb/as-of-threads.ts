import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FoundRows } from "../../core/feature-store/replay";
import type { EntityLabels } from "./as-of-labels";
import { findValues, type Search } from "./as-of-search";
import { SearchThread } from "./as-of-thread";
import type { DuckDbSession } from "./session";

/** Searches at the same time. Each holds the values of a view, so there are few. */
const maxSearches = 4;
/** 128 MB. */
const defaultMaxEarlyNumbers = 1 << 24;

export interface ViewSearch {
  readonly search: Search;
  /** Index of the search's labels among those that `FindAll` reads. */
  readonly labelsIndex: number;
  /** Whether the search needs this session's enumeration. */
  readonly isLocal: boolean;
}

/** Reads the labels, and returns what each search finds (`findValues`). */
export type FindAll = (
  searches: readonly ViewSearch[],
  read: () => Promise<readonly EntityLabels[]>,
) => Promise<readonly FoundRows[]>;

export interface SearchOptions {
  readonly views: number;
  readonly script?: string | undefined;
  /** Numbers of a view up to which its rows are read before the labels are known, and kept until then. */
  readonly maxEarlyNumbers?: number | undefined;
}

/**
 * Runs `work` with a function that divides searches of views among this thread and others: as many as DuckDB has, if the
 * script exists. The others read rows of views while this thread reads the labels. Entities that are large numbers, or a
 * great many texts, are searched in this thread, because threads cannot share them.
 */
export async function withSearchThreads<Result>(
  session: DuckDbSession,
  { views, script = join(__dirname, "as-of-worker.js"), maxEarlyNumbers = defaultMaxEarlyNumbers }: SearchOptions,
  work: (findAll: FindAll) => Promise<Result>,
): Promise<Result> {
  const others = existsSync(script) ? Math.min(views, session.threads, maxSearches) - 1 : 0;
  // Half of the memory of this thread's DuckDB, for all of them together.
  const memoryMb = Math.ceil(session.memoryMb / (2 * others));
  const threads = Array.from(
    { length: others },
    (_, index) => new SearchThread(script, { directory: join(session.directory, `search-${index}`), memoryMb }),
  );
  try {
    return await work((searches, read) => new SearchPool(session, threads, searches, maxEarlyNumbers).findAll(read));
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

/** Runs `findValues`. Resolves with `undefined` if the thread cannot have the labels. */
type Find = (search: Search, labels: Promise<EntityLabels>) => Promise<FoundRows | undefined>;

/** Searches from which each thread takes the next one as soon as it is free. */
class SearchPool {
  private readonly left: Set<ViewSearch>;
  private readonly found = new Map<ViewSearch, FoundRows>();
  private labels: readonly EntityLabels[] | undefined;

  constructor(
    private readonly session: DuckDbSession,
    private readonly threads: readonly SearchThread[],
    private readonly searches: readonly ViewSearch[],
    private readonly maxEarlyNumbers: number,
  ) {
    this.left = new Set(searches);
  }

  async findAll(read: () => Promise<readonly EntityLabels[]>): Promise<readonly FoundRows[]> {
    const reading = this.readLabels(read);
    const taken = [
      ...this.threads.map((thread) => this.take((...search) => thread.find(...search), reading, this.isShared)),
      // This thread replays rows of one view while DuckDB reads those of another.
      this.takeHere(reading, this.threads.length === 0),
      this.takeHere(reading, true),
    ];
    try {
      await Promise.all(taken);
      return this.searches.map((one) => this.found.get(one)!);
    } finally {
      this.left.clear();
      // A query waits for the thread that visits its chunks, so no thread ends before its searches.
      await Promise.allSettled(taken);
      await this.session.run(`SET threads = ${this.session.threads}`);
    }
  }

  private async readLabels(read: () => Promise<readonly EntityLabels[]>): Promise<readonly EntityLabels[]> {
    const labels = await read();
    // One thread reads rows in their order.
    await this.session.run("SET threads = 1");
    this.labels = labels;
    return labels;
  }

  /** Whether another thread may take a search. Before the labels are known, only a small view is worth the memory. */
  private readonly isShared = ({ search, isLocal, labelsIndex }: ViewSearch): boolean => {
    if (isLocal) return false;
    if (this.labels !== undefined) return this.labels[labelsIndex]!.numbers.table !== undefined;
    const numbersPerRow = 4 + search.values.length + (search.windows?.columns.length ?? 0);
    return search.viewRows * numbersPerRow <= this.maxEarlyNumbers;
  };

  private readonly findHere = (search: Search, labels: Promise<EntityLabels>): Promise<FoundRows> =>
    findValues(this.session, search, labels);

  /** Takes the searches that no other thread can take, then all others if `takesAll`. */
  private async takeHere(reading: Promise<readonly EntityLabels[]>, takesAll: boolean): Promise<void> {
    await reading;
    await this.take(this.findHere, reading, (one) => !this.isShared(one));
    if (takesAll) await this.take(this.findHere, reading, () => true);
  }

  /** Takes searches one after another, until the labels are known and none is left. */
  private async take(
    find: Find,
    reading: Promise<readonly EntityLabels[]>,
    mayTake: (one: ViewSearch) => boolean,
  ): Promise<void> {
    for (;;) {
      const next = [...this.left].find(mayTake);
      if (next === undefined) {
        if (this.labels !== undefined) return;
        await reading;
        continue;
      }
      this.left.delete(next);
      const labels = reading.then((read) => read[next.labelsIndex]!);
      this.found.set(next, (await find(next.search, labels)) ?? (await this.findHere(next.search, labels)));
    }
  }
}
