import * as z from "zod";
import { InvalidInputError } from "../../core/errors";
import { problemsOf } from "../../core/problems";
import type { StepRecord } from "../../core/runs/shapes";
import { trainingOutput } from "../../core/runs/training-task";
import {
  type KeptRecord,
  recordOf,
  type TrainingState,
  unreadableRecord,
} from "../../core/tracking/records/training-record";
import { type RunRecord, runRecord } from "../../core/tracking/shapes";
import { type LoggedRecord, rowOf } from "./record-rows";
import { identityOf, recordKey } from "./run-identities";
import { readableRunOf } from "./run-steps";
import type { Item, Table } from "./table";

/** Returns records by run with strong consistency, in any order. Missing records are omitted. */
export async function readRecords(table: Table, runIds: readonly string[]): Promise<readonly RunRecord[]> {
  return recordOfRows(table, await table.batchGet(runIds.map(recordKey)));
}

/**
 * Converts rows `RECORD` to records, in their order. Records of training runs are combined with the rows of their
 * state.
 */
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
