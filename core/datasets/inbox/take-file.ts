import { digestOf } from "../../digest";
import { type Clock, isoTime } from "../../ports";
import type { DatasetRepository } from "../repository";
import type { DatasetSchema } from "../schema";
import type { DatasetVersion } from "../shapes";
import { type Refusal, refusalOf, refusals } from "./refusals";
import { type InboxPut, type InboxReport, type InboxRepository, isLater } from "./shapes";

/** The content of a file's snapshot. */
export interface TakenFile {
  readonly created: boolean;
  readonly version: DatasetVersion;
  readonly ignoredColumns: readonly string[];
}

export interface TakeFileDependencies {
  readonly inbox: InboxRepository;
  readonly datasets: Pick<DatasetRepository, "findNewest">;
  readonly clock: Clock;
  /** Resolves with `undefined` if that content is no longer in the inbox. */
  snapshot(put: InboxPut, name: string, schema: DatasetSchema): Promise<TakenFile | undefined>;
}

/**
 * Largest file that is accepted. Its data needs three times its size on disk (the file, its rows, their shards), which
 * must fit in the function's 10 GB and 15 minutes.
 */
export const maxInboxBytes = 2 * 1024 ** 3;
/**
 * Number of attempts that end without an error message after which the file is refused. Lambda delivers an event three
 * times.
 */
const silentTries = 2;

/**
 * Turns a file of the inbox into a version of its dataset, with the schema and the split of the dataset's newest
 * version, and reports the result. Idempotent: events may be repeated and may overlap.
 *
 * @returns the report; `undefined` if this put or a later one was already processed
 * @throws transient errors, so that the event is delivered again. The last delivery reports them instead.
 */
export async function takeInboxFile(
  dependencies: TakeFileDependencies,
  put: InboxPut,
): Promise<InboxReport | undefined> {
  const begun = await begin(dependencies, put);
  if (!begun) return undefined;
  try {
    const outcome = await look(dependencies, put, begun);
    return await conclude(dependencies, begun, outcome);
  } catch (error) {
    const refusal = refusalOf(error, put.path, begun.dataset);
    if (refusal) return conclude(dependencies, begun, refusal);
    const { message } = error instanceof Error ? error : { message: String(error) };
    if (begun.tries > silentTries) return conclude(dependencies, begun, refusals.failed(message, put.path));
    await dependencies.inbox.save({ ...begun, lastError: message, updatedAt: isoTime(dependencies.clock) }, begun);
    throw error;
  }
}

/** Returns `undefined` if there is nothing to do. */
async function begin({ inbox, clock }: TakeFileDependencies, put: InboxPut): Promise<InboxReport | undefined> {
  const id = digestOf({ path: put.path, etag: put.etag }).slice(0, 16);
  for (let round = 0; ; round += 1) {
    const before = await inbox.find(id);
    const newer = !before || isLater(put.sequencer, before.sequencer);
    if (before && !newer) {
      if (before.sequencer !== put.sequencer || before.status !== "reading") return undefined;
    }
    const report: InboxReport = {
      ...{ id, path: put.path, dataset: datasetOf(put.path), etag: put.etag, bytes: put.bytes },
      sequencer: put.sequencer,
      putAt: put.at,
      updatedAt: isoTime(clock),
      status: "reading",
      tries: newer ? 1 : before.tries + 1,
      lastError: newer ? undefined : before.lastError,
    };
    if (await inbox.save(report, before)) return report;
    if (round === 8) throw new Error(`the report of ${put.path} was changed by others ${round + 1} times in a row`);
  }
}

async function look(
  { datasets, snapshot }: TakeFileDependencies,
  put: InboxPut,
  { dataset, tries, lastError }: InboxReport,
): Promise<Partial<InboxReport> | Refusal> {
  if (dataset === undefined) return refusals.misplaced(put.path);
  if (tries > silentTries && lastError === undefined) return refusals.silent(tries - 1, dataset);
  if (put.bytes > maxInboxBytes) return refusals.tooLarge(put.bytes, maxInboxBytes, dataset);
  const newest = await datasets.findNewest(dataset);
  if (!newest) return refusals.unknownDataset(dataset);
  const { schema, split } = newest.manifest;
  const { indexes: _, ...cut } = split;
  const taken = await snapshot(put, dataset, { columns: schema, split: cut });
  if (!taken) return refusals.gone(put.path);
  const { manifest } = taken.version;
  return {
    status: "taken",
    version: manifest.version,
    created: taken.created,
    rowCount: manifest.rowCount,
    ...(taken.ignoredColumns.length > 0 ? { ignoredColumns: taken.ignoredColumns } : {}),
  };
}

/** Records the result. The first result of a put stays if its event was processed twice at the same time. */
async function conclude(
  { inbox, clock }: TakeFileDependencies,
  begun: InboxReport,
  outcome: Partial<InboxReport> | Refusal,
): Promise<InboxReport> {
  const { lastError: _, ...rest } = begun;
  let before = begun;
  for (;;) {
    const report: InboxReport = { ...rest, tries: before.tries, ...outcome, updatedAt: isoTime(clock) };
    if (await inbox.save(report, before)) return report;
    const now = await inbox.find(begun.id);
    if (!now || now.sequencer !== begun.sequencer) return now ?? report;
    // A process that was considered dead has created the version after all.
    const better = outcome.status === "taken" && now.status === "refused";
    if (now.status !== "reading" && !better) return now;
    before = now;
  }
}

/** Returns the dataset that a path names: `digits` for `digits/2026-03.csv` and `digits/march/1.csv`. */
function datasetOf(path: string): string | undefined {
  return /^([a-z0-9][a-z0-9-]{0,62})\/[\s\S]+$/.exec(path)?.[1];
}
