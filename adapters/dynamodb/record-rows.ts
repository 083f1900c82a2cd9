import { deflateRawSync, inflateRawSync } from "node:zlib";
import { runRecordTooLarge } from "../../core/tracking/records/errors";
import type { KeptRecord } from "../../core/tracking/records/training-record";
import type { RunIdentity, RunRecord } from "../../core/tracking/shapes";
import { identityOf, recordKey } from "./run-identities";
import type { Key } from "./table";

/** The stored part of a logged run: everything but its identity. */
export type LoggedRecord = Omit<RunRecord, keyof RunIdentity | "revision">;

/** A row `RUN#<runId>` / `RECORD`. `record` is a `LoggedRecord` or a `KeptRecord`, depending on the source. */
export interface RecordRow<Kept> {
  readonly identity: RunIdentity;
  readonly revision: number;
  readonly record: Kept;
  readonly requestDigest?: string;
  readonly instanceTypes: readonly string[];
}

/**
 * The maximum bytes of JSON that are stored as readable text. Larger records are compressed. DynamoDB's own size is
 * close to the bytes of JSON.
 */
const maxPlainBytes = 100_000;
/** The maximum bytes of a compressed record: DynamoDB's 400 KB per item minus the row's other attributes. */
const maxPackedBytes = 380_000;
/**
 * The maximum bytes of a decompressed record. A megabyte of one letter compresses to a kilobyte, so this needs its own
 * limit.
 */
const maxInflatedBytes = 64 * 1024 * 1024;

export const experimentRunsKey = (team: string, experimentId: string): string =>
  `TEAM#${team}#EXPERIMENT#${experimentId}#RUNS`;

/** Returns the key of the rows that name the children of a run. */
export const childrenKey = (team: string, parentRunId: string): string => `TEAM#${team}#CHILDREN#${parentRunId}`;

/** Builds the row that names a run as a child of its parent. */
export const childRow = ({ team, runId }: Pick<RunIdentity, "team" | "runId">, parentRunId: string): Key => ({
  pk: childrenKey(team, parentRunId),
  sk: runId,
});

/** Builds the first row of a record. */
export function newRecordRow(
  identity: RunIdentity,
  record: LoggedRecord | KeptRecord,
  startedAt: number,
  requestDigest?: string,
): Record<string, unknown> {
  const { runId, team, experimentId, source } = identity;
  // Clients' clocks may be wrong. The order of a listing needs only digits.
  const order = String(Math.min(Math.max(0, Math.trunc(startedAt)), 999_999_999_999_999)).padStart(15, "0");
  return {
    ...recordKey(runId),
    gsi1pk: experimentRunsKey(team, experimentId),
    gsi1sk: `${order}#${runId}`,
    team,
    experimentId,
    source,
    revision: 1,
    requestDigest,
    ...packRecord(runId, record),
  };
}

/** Returns the record in one of two attributes. @throws RUN_RECORD_TOO_LARGE */
export function packRecord(
  runId: string,
  record: LoggedRecord | KeptRecord,
): { readonly record: unknown } | { readonly packed: Uint8Array } {
  const text = JSON.stringify(record);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxPlainBytes) return { record };
  const packed = deflateRawSync(text);
  if (packed.length > maxPackedBytes) throw runRecordTooLarge(runId, packed.length, maxPackedBytes);
  if (bytes > maxInflatedBytes) throw runRecordTooLarge(runId, bytes, maxInflatedBytes);
  return { packed };
}

export function rowOf<Kept extends LoggedRecord | KeptRecord>(item: Record<string, unknown>): RecordRow<Kept> {
  const packed = item["packed"] as Uint8Array | undefined;
  const record =
    packed === undefined
      ? item["record"]
      : JSON.parse(inflateRawSync(packed, { maxOutputLength: maxInflatedBytes }).toString("utf8"));
  return {
    identity: identityOf(item),
    revision: item["revision"] as number,
    record: record as Kept,
    requestDigest: item["requestDigest"] as string | undefined,
    instanceTypes: [...((item["instanceTypes"] as ReadonlySet<string> | undefined) ?? [])].sort(),
  };
}
