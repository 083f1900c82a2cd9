import { digestOf } from "../../digest";
import { RingmasterError } from "../../errors";
import { type Clock, isoTime } from "../../ports";
import type { DatasetRepository } from "../repository";
import type { DatasetSchema } from "../schema";
import type { DatasetVersion } from "../shapes";
import { type InboxPut, type InboxReport, type InboxRepository, isLater } from "./shapes";

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

/** The reason why a file did not become a version, and what its owner can do next. The file stays in the inbox. */
type Refusal = Required<Pick<InboxReport, "code" | "reason" | "nextStep">> & { readonly status: "refused" };

const refuse = (code: string, reason: string, nextStep: string): Refusal => ({
  status: "refused",
  code,
  reason,
  nextStep,
});
const again = "then `ringmaster datasets inbox --retry <id>`";
const pushFrom = (dataset: string, where: string): string =>
  `\`ringmaster datasets push ${dataset} --file … --schema …\` from ${where}`;

const refusals = {
  misplaced: (path: string) =>
    refuse(
      "INBOX_FILE_MISPLACED",
      `inbox/${path} does not name a dataset: the path must be inbox/<dataset>/<file>, and a dataset name has 1–63 lower-case letters, digits and hyphens`,
      "upload the file again under inbox/<dataset>/",
    ),
  unknownDataset: (dataset: string) =>
    refuse(
      "DATASET_NOT_FOUND",
      `there is no dataset ${dataset}, so the file has no schema`,
      `create its first version with a schema file: ${pushFrom(dataset, "any machine")}; ${again}`,
    ),
  tooLarge: (bytes: number, most: number, dataset: string) =>
    refuse(
      "INBOX_FILE_TOO_LARGE",
      `the file has ${bytes} bytes, but must have at most ${most}: the function that reads it has 10 GB of disk and 15 minutes`,
      pushFrom(dataset, "a machine with enough disk space"),
    ),
  silent: (tries: number, dataset: string) =>
    refuse(
      "INBOX_READER_DIED",
      `the function that reads the file ended ${tries} times without an error message: the file takes more than 15 minutes or more memory than the function has`,
      pushFrom(dataset, "a larger machine"),
    ),
  gone: (path: string) =>
    refuse(
      "INBOX_FILE_GONE",
      `inbox/${path} was removed or replaced by other content before it was read`,
      "upload the file again if it was removed; other content has its own report",
    ),
  failed: (message: string, path: string) =>
    refuse(
      "INBOX_READ_FAILED",
      `reading inbox/${path} failed on every attempt; the last error: ${message.slice(0, 1_000)}`,
      `see the log of the function snapshot-dataset; ${again}`,
    ),
} as const;

/** Returns the refusal for an error that the same file would meet again; `undefined` for a transient error. */
function refusalOf(error: unknown, path: string, dataset = "…"): Refusal | undefined {
  if (!(error instanceof RingmasterError)) return undefined;
  const { code, message } = error;
  if (code === "DISK_FULL") {
    const reason = `inbox/${path} needs more than the 10 GB of disk of the function that reads it, once it is uncompressed`;
    return refuse("INBOX_FILE_TOO_LARGE", reason, pushFrom(dataset, "a machine with enough disk space"));
  }
  if (error.retryable || error.httpStatus >= 500) return undefined;
  if (code === "INVALID_ROWS" || code === "INVALID_INPUT" || code === "EMPTY_DATASET") {
    const meant = pushFrom(dataset, "any machine");
    return refuse(
      code,
      message,
      `correct the file and upload it again; if the columns are meant to change, ${meant} with a new schema and --allow-schema-change`,
    );
  }
  if (code === "DATA_CONTRACT_VIOLATED") {
    const change = `\`ringmaster datasets contract set ${dataset} --file contract.yaml\``;
    return refuse(
      code,
      message,
      `correct the file and upload it again; or change the contract with ${change}, ${again}`,
    );
  }
  return refuse(code, message, `correct this, ${again}`);
}
