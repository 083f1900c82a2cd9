import type { Clock } from "../ports";
import { compileFeatures } from "./features";
import type { BatchLog, BatchReader, OnlineStore, RowsKey } from "./ports";
import type { Batch, Position, ViewVersion } from "./shapes";

export interface MaterializeDependencies {
  readonly batches: BatchLog;
  readonly online: Pick<OnlineStore, "put" | "putWindowRows">;
  readonly clock: Clock;
  readonly reader: BatchReader;
}

const batchesPerPage = 20;

/**
 * Brings the batches after the online store's position into it. Incremental: each file is read once, and the position
 * moves after it. Idempotent: the online store refuses rows that are not later, so two calls at the same time, or a call
 * after one that died, change nothing more.
 *
 * @param hasTime whether there is time for another file
 * @returns the position that was reached
 */
export async function materializeView(
  dependencies: MaterializeDependencies,
  version: ViewVersion,
  hasTime: () => boolean = () => true,
): Promise<Position> {
  const { batches } = dependencies;
  const rows = { name: version.name, generation: version.generation };
  for (;;) {
    let { online } = await batches.state(rows);
    const { items } = await batches.list(rows, { after: online.batch, limit: batchesPerPage });
    if (items.length === 0) return online;
    for (const batch of items) {
      for (let file = online.files; file < batch.files.length; file += 1) {
        if (!hasTime()) return online;
        await materializeFile(dependencies, version, batch, file);
        const isLast = file + 1 === batch.files.length;
        const next = isLast ? { batch: batch.sequence, files: 0 } : { batch: batch.sequence - 1, files: file + 1 };
        await batches.advance(rows, online, next);
        online = next;
      }
    }
  }
}

/** Brings one batch into the online store at once; the position moves only past the batches before it. */
export async function materializeBatch(
  dependencies: MaterializeDependencies,
  version: ViewVersion,
  batch: Batch,
): Promise<void> {
  const rows: RowsKey = { name: version.name, generation: version.generation };
  for (const file of batch.files.keys()) await materializeFile(dependencies, version, batch, file);
  await dependencies.batches.advance(
    rows,
    { batch: batch.sequence - 1, files: 0 },
    { batch: batch.sequence, files: 0 },
  );
}

async function materializeFile(
  { online, clock, reader }: MaterializeDependencies,
  version: ViewVersion,
  batch: Batch,
  file: number,
): Promise<void> {
  const rows = { name: version.name, generation: version.generation };
  const { windows } = compileFeatures(version.definition);
  if (windows) {
    const { maxOverMs } = windows;
    const since = clock.now() - maxOverMs;
    for await (const some of reader.readWindowRows(version, batch, file, since)) {
      await online.putWindowRows(rows, some, maxOverMs);
    }
  }
  for await (const latest of reader.readLatest(version, batch, file)) await online.put(rows, latest);
}
