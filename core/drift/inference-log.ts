import type { Page } from "../datasets/repository";
import { digestOf, sha256 as sha256Of } from "../digest";
import { inParts, mapLimited } from "../each-limited";
import { busy } from "../errors";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { checkTimes, decodeBatch, encodeBatch, placeOfUnit, type StoredRow } from "./inference-batch";
import type { InferenceWindow } from "./measure-model";
import type { InferenceBatch, LoggedRow } from "./shapes";

/** The port to the inference log: one for each version of a model. docs/access-patterns.md, "Drift". */
export interface InferenceLog {
  find(version: ServedVersion, digest: string): Promise<InferenceBatch | undefined>;
  /**
   * Appends a batch under the digest of its request. Returns the batch of an earlier request with that digest.
   *
   * @throws INFERENCE_LOG_BUSY
   */
  append(
    version: ServedVersion,
    digest: string,
    batch: Omit<InferenceBatch, "sequence" | "before">,
  ): Promise<InferenceBatch>;
  /** Returns the number of batches and of rows that were ever appended. */
  totals(version: ServedVersion): Promise<{ readonly batches: number; readonly rows: number }>;
  /** Lists the batches that still exist, in their order, after a sequence. */
  list(
    version: ServedVersion,
    query: { readonly after: number; readonly limit: number; readonly nextToken?: string | undefined },
  ): Promise<Page<InferenceBatch>>;
}

export interface ServedVersion {
  readonly model: string;
  readonly version: number;
}

export const inferenceLogBusy = ({ model, version }: ServedVersion) =>
  busy(
    "INFERENCE_LOG_BUSY",
    `too many requests log inferences of ${model}/${version} at the same time; send larger batches, or send the request again`,
    { model, version },
  );

export interface LogDependencies {
  readonly inferences: Pick<InferenceLog, "find" | "append">;
  readonly objects: Pick<ObjectStore, "putContent">;
  readonly clock: Clock;
}

/**
 * Stores the rows of the sampled units. Idempotent: rows that are sent again in the same batch are stored once, also if
 * the rate has changed.
 *
 * @param rate the share of units in the sample
 * @returns the batch; `undefined` if no row is in the sample
 * @throws InvalidInputError for rows of a time that is too long ago
 */
export async function logInferences(
  { inferences, objects, clock }: LogDependencies,
  version: ServedVersion,
  rows: readonly LoggedRow[],
  rate: number,
): Promise<{ readonly batch: InferenceBatch; readonly created: boolean } | undefined> {
  checkTimes(rows, clock.now());
  const digest = digestOf(rows);
  const earlierBatch = await inferences.find(version, digest);
  if (earlierBatch) return { batch: earlierBatch, created: false };
  const sampled = rows.filter(({ unit }) => placeOfUnit(unit) < rate);
  if (sampled.length === 0) return undefined;
  const times = sampled.map(({ at }) => new Date(at).toISOString()).sort();
  const content = await objects.putContent(encodeBatch(sampled), "application/gzip");
  const receivedAt = isoTime(clock);
  const batch = await inferences.append(version, digest, {
    ...{ rows: sampled.length, from: times[0]!, to: times.at(-1)!, receivedAt },
    ...{ sha256: content.sha256, bytes: content.bytes },
  });
  return { batch, created: batch.receivedAt === receivedAt && batch.sha256 === content.sha256 };
}

const readsAtOnce = 8;

/**
 * Opens the rows of batches. A row that is in several batches is read as often as in the batch that has it most often: so
 * a batch that overlaps another one adds its other rows, and equal rows of one batch are all read.
 *
 * @param limits the share of units, and the time of the first prediction
 */
export function inferenceWindow(
  objects: Pick<ObjectStore, "getContent">,
  batches: readonly InferenceBatch[],
  { rate = 1, since = 0 }: { readonly rate?: number; readonly since?: number } = {},
): InferenceWindow {
  return {
    rowCount: batches.reduce((sum, { rows }) => sum + rows, 0),
    async *open() {
      const seen = new Map<string, number>();
      for (const some of inParts(batches, readsAtOnce)) {
        const contents = await mapLimited(some, readsAtOnce, ({ sha256 }) => objects.getContent(sha256));
        for (const [at, content] of contents.entries()) {
          const inBatch = new Map<string, number>();
          yield decodeBatch(some[at]!.sha256, content).filter((row) => {
            if (row.place >= rate || row.at < since) return false;
            const key = identityOf(row);
            const times = (inBatch.get(key) ?? 0) + 1;
            inBatch.set(key, times);
            if (times <= (seen.get(key) ?? 0)) return false;
            seen.set(key, times);
            return true;
          });
        }
      }
    },
  };
}

/** Digest of what a model was given and answered. The label is not in it: it may be sent later with the same row. */
const identityOf = ({ place, at, row, prediction }: StoredRow): string =>
  sha256Of(JSON.stringify([place, at, prediction, row]));
