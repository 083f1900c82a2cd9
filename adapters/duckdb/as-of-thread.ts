import { Worker } from "node:worker_threads";
import type { FoundRows, Labels } from "../../core/feature-store/replay";
import type { EntityLabels } from "./as-of-labels";
import type { Search } from "./as-of-search";

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

/** Calls a thread that searches views with a DuckDB of its own (`as-of-worker.ts`). */
export class SearchThread {
  private readonly worker: Worker;
  private readonly waiting = new Map<
    number,
    { resolve(found: FoundRows | undefined): void; reject(error: unknown): void }
  >();
  private searches = 0;
  /** The error that ended the thread. */
  private end: unknown;

  constructor(script: string, workerData: SearchThreadData) {
    this.worker = new Worker(script, { workerData });
    this.worker.on("error", (error) => this.fail(error));
    this.worker.on("exit", (code) => this.fail(new Error(`a thread that searches views ended with code ${code}`)));
    this.worker.on("message", (answer: SearchAnswer) => this.receive(answer));
  }

  /** Runs `findValues` in the thread. Resolves with `undefined` if the thread cannot have the labels. */
  find(search: Search, labels: Promise<EntityLabels>): Promise<FoundRows | undefined> {
    if (this.end !== undefined) return Promise.reject(this.end);
    const id = this.searches;
    this.searches += 1;
    this.worker.postMessage({ id, search } satisfies SearchRequest);
    labels.then(
      ({ numbers: { table }, ...some }) => this.send({ id, ...(table ? { labels: { ...some, table } } : {}) }),
      () => this.send({ id }),
    );
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  terminate(): Promise<unknown> {
    return this.worker.terminate();
  }

  private send(labels: SearchLabels): void {
    this.worker.postMessage(labels);
  }

  private receive({ id, found, failure }: SearchAnswer): void {
    const { resolve, reject } = this.waiting.get(id)!;
    this.waiting.delete(id);
    if (failure) reject(failure.error);
    else resolve(found);
  }

  private fail(error: unknown): void {
    this.end ??= error;
    for (const { reject } of this.waiting.values()) reject(this.end);
  }
}
