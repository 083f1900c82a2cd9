import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { InvalidInputError } from "../../core/errors";
import { problemsOf } from "../../core/problems";
import type { StepRecord } from "../../core/runs/shapes";
import { trainingOutput } from "../../core/runs/training-task";
import { runRecordTooLarge } from "../../core/tracking/records/errors";
import {
  type KeptRecord,
  recordOf,
  type TrainingState,
  unreadableRecord,
} from "../../core/tracking/records/training-record";
import { type RunIdentity, type RunRecord, runRecord } from "../../core/tracking/shapes";
import { identityOf, recordKey } from "./run-identities";
import { readableRunOf } from "./run-steps";
import type { Item, Key, Table } from "./table";

/** The stored part of a logged run: everything but its identity. */
export type LoggedRecord = Omit<RunRecord, keyof RunIdentity | "revision">;

/** A row `RUN#<runId>` / `RECORD`. `record` is a `LoggedRecord` or a `KeptRecord`, depending on the source. */
interface RecordRow<Kept> {
  readonly identity: RunIdentity;
  readonly revision: number;
  readonly record: Kept;
  readonly requestDigest?: string;
  readonly instanceTypes: readonly string[];
}

/** The maximum bytes of JSON that are stored as readable text. Larger records are compressed. */
const maxPlainBytes = 100_000;
/** The maximum bytes of a compressed record: DynamoDB's 400 KB per item minus the row's other attributes. */
const maxPackedBytes = 380_000;
/** The maximum bytes of a decompressed record: a megabyte of one letter compresses to a kilobyte. */
const maxInflatedBytes = 64 * 1024 * 1024;

export const experimentRunsKey = (team: string, experimentId: string): string =>
  `TEAM#${team}#EXPERIMENT#${experimentId}#RUNS`;

export const childrenKey = (team: string, parentRunId: string): string => `TEAM#${team}#CHILDREN#${parentRunId}`;

export const childRow = ({ team, runId }: Pick<RunIdentity, "team" | "runId">, parentRunId: string): Key => ({
  pk: childrenKey(team, parentRunId),
  sk: runId,
});

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

function rowOf<Kept extends LoggedRecord | KeptRecord>(item: Record<string, unknown>): RecordRow<Kept> {
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

/** Returns records by run with strong consistency, in any order. Missing records are omitted. */
export async function readRecords(table: Table, runIds: readonly string[]): Promise<readonly RunRecord[]> {
  return recordOfRows(table, await table.batchGet(runIds.map(recordKey)));
}

/** Converts rows `RECORD` in their order. Those of training runs are combined with the rows of their state. */
export async function recordOfRows(table: Table, items: readonly Item[]): Promise<readonly RunRecord[]> {
  const trained = items.filter((item) => item["source"] === "training").map((item) => item["pk"] as string);
  const state = await table.batchGet(
    trained.flatMap((pk) => [
      { pk, sk: "RUN" },
      { pk, sk: "STEP#LaunchTraining" },
    ]),
  );
  const stateOf = new Map(state.map((item) => [`${item["pk"]}/${item["sk"]}`, item]));
  return items.flatMap((item) => {
    const row = stateOf.get(`${item["pk"]}/RUN`);
    if (item["source"] === "training" && !row) return [];
    return [readRecord(item, row, stateOf.get(`${item["pk"]}/STEP#LaunchTraining`))];
  });
}

/** Reads a record. What of it cannot be read is absent, so that a damaged row fails no list. */
function readRecord(item: Item, row: Item | undefined, step: Item | undefined): RunRecord {
  const identity = identityOf(item);
  const revision = item["revision"] as number;
  const reasons: string[] = [];
  const readable = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      reasons.push((error as Error).message);
      return undefined;
    }
  };
  const kept = readable(
    () => keptShape.parse(rowOf<LoggedRecord | KeptRecord>(item).record) as LoggedRecord | KeptRecord,
  );
  const trained = readable(() => trainingOf(step));
  const record = readable(() => {
    if (!row) return kept && ({ ...identity, ...(kept as LoggedRecord), revision } satisfies RunRecord);
    const { instanceTypes } = rowOf<KeptRecord>(item);
    const run = readableRunOf(row);
    if (!run) throw new InvalidInputError("the row RUN", [{ path: "", rule: "must have a run" }]);
    return kept && recordOf(identity, kept, { run, ...trained, instanceTypes }, revision);
  });
  if (reasons.length === 0 && record) return record;
  return record
    ? { ...record, unreadable: reasons.join("; ") }
    : unreadableRecord(identity, kept ?? {}, revision, reasons.join("; "));
}

/** The fields of a record on which every reader relies. */
const keptShape = z.looseObject(
  runRecord.pick({ name: true, lifecycle: true, params: true, tags: true, notes: true }).shape,
);

/** The parts of a training that its record has. A module of the user decides them. */
const trainedPart = trainingOutput.pick({ weightsSha256: true, numerics: true });

/** @throws InvalidInputError */
function trainingOf(step: Item | undefined): Pick<TrainingState, "training" | "reusedFrom"> {
  const record = step?.["record"] as Partial<StepRecord> | undefined;
  if (record === undefined) return {};
  const parsed = trainedPart.safeParse(record.output, { reportInput: true });
  if (!parsed.success) throw new InvalidInputError("the output of LaunchTraining", problemsOf(parsed.error));
  return { training: parsed.data, reusedFrom: record.reusedFrom };
}
