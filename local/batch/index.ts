import { rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../clock";
import { batchAccesses } from "../iam/access/json";
import type { StoredService } from "../service";
import { makeDirectory } from "../storage/directory";
import { serveJson } from "../wire";
import { find, operations } from "./api";
import { Engine } from "./engine";
import { clientError } from "./errors";
import { JobBook } from "./job-book";
import { JobDefinitions } from "./job-definitions";
import { Resources } from "./resources";
import { Store } from "./store";
import type { BatchOptions } from "./types";

export type { BatchOptions, ImageConfig } from "./types";

export interface BatchService extends StoredService {
  /**
   * Interrupts the spot host of a running job or child. The notice appears in the host's files and on the event bus
   * at once, and the host ends when the notice period is over. Rejects with `ClientException` if the job does not
   * run on a spot host.
   */
  interruptSpot(jobId: string): Promise<void>;
}

const protocol = { maxBytes: 1024 * 1024, invalid: clientError };

/**
 * Creates AWS Batch for one machine. Every job is a process, run by Batch's rules.
 *
 * @example const batch = createBatch({ dataDirectory, images: { trainer: { command: ["node", "/dist/trainer.js"] } }
 * });
 */
export function createBatch(options: BatchOptions): BatchService {
  const clock = options.clock ?? systemClock;
  makeDirectory(options.dataDirectory);
  const hostsDirectory = join(options.dataDirectory, "hosts");
  rmSync(hostsDirectory, { recursive: true, force: true }); // The hosts of an earlier process are gone.
  const store = new Store(join(options.dataDirectory, "batch.level"), options.events);
  const book = new JobBook(store, clock);
  const resources = new Resources(store);
  const definitions = new JobDefinitions(store);
  const engine = new Engine(book, resources, {
    hostPath: options.hostPath ?? join(__dirname, "batch-host.js"),
    hostsDirectory,
    images: options.images,
    logs: options.logs,
    events: options.events,
    clock,
    vcpus: options.vcpus ?? 1024,
    gpus: options.gpus ?? [],
    graceMs: options.graceMs ?? 30_000,
    spotNoticeMs: options.spotNoticeMs ?? 120_000,
  });
  const ready = store.open().then((rows) => {
    resources.load(rows);
    definitions.load(rows);
    book.load(rows);
    engine.recover();
  });
  ready.catch(() => undefined);
  const backend = { book, engine, resources, definitions, now: () => clock.now() };

  return {
    signingName: "batch",
    ready,
    handle: (request, response, caller) =>
      serveJson(request, response, protocol, async (body) => {
        await ready;
        const { pathname } = new URL(request.url ?? "/", "http://batch");
        const name = /^\/v1\/([a-z]+)$/.exec(pathname)?.[1] ?? "";
        if (caller) for (const access of batchAccesses(name, body)) caller.authorize(access);
        const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
        if (!operation) throw clientError(`The embedded Batch does not implement ${request.method} ${pathname}.`);
        await store.readable();
        const answer = operation(backend, body);
        await store.flush();
        return answer;
      }),
    async interruptSpot(jobId) {
      await ready;
      engine.interruptSpot(find(book, jobId));
    },
    async close() {
      await ready.catch(() => undefined);
      await engine.close();
      await store.close();
    },
  };
}
