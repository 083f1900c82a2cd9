import type { StepRecord } from "../../core/runs/shapes";
import type { TrainingOutput } from "../../core/runs/training-task";
import { type KeptRecord, recordOf } from "../../core/tracking/records/training-record";
import type { RunRecord } from "../../core/tracking/shapes";
import { type LoggedRecord, rowOf } from "./record-rows";
import { recordKey } from "./run-identities";
import { runOf } from "./run-steps";
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
    if (item["source"] !== "training") {
      const { identity, record, revision } = rowOf<LoggedRecord>(item);
      return [{ ...identity, ...record, revision }];
    }
    const { identity, record, revision, instanceTypes } = rowOf<KeptRecord>(item);
    const row = stateOf.get(`${item["pk"]}/RUN`);
    if (!row) return [];
    const step = stateOf.get(`${item["pk"]}/STEP#LaunchTraining`)?.["record"] as StepRecord | undefined;
    const training = step?.output as TrainingOutput | undefined;
    const reusedFrom = step?.reusedFrom;
    return [recordOf(identity, record, { run: runOf(row), training, reusedFrom, instanceTypes }, revision)];
  });
}
