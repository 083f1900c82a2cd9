import { PutCommand } from "@aws-sdk/lib-dynamodb";
import type { AllRuns } from "../../core/runs/run-repository";
import type { MachineRecord, WorkerRecord } from "../../core/runs/shapes";
import { isConditionFailed } from "./client";
import { absent, ex, exists } from "./expression";
import type { Key, Table } from "./table";

type WorkerRepository = Pick<
  AllRuns,
  "recordWorker" | "recordMachine" | "findOnInstance" | "recordInterruptionNotice" | "recordRecovery"
>;

/** The order of a Batch job's statuses in time, by which a late event is recognized. */
const statusOrder = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"];

const pad = (n: number): string => String(n).padStart(6, "0");
const instanceKey = (instanceId: string): string => `INSTANCE#${instanceId}`;

/** Stores the rows of a run's workers, of their machines, and of their recoveries. */
export function createWorkerRepository(table: Table, key: (runId: string, sk: string) => Key): WorkerRepository {
  return {
    async recordWorker(runId, worker) {
      // The platform's attempt, Batch's attempt and the status, each with a fixed number of digits, so that they are
      // compared in this order.
      const order = (worker.attempt ?? 1) * 100_000 + worker.attempts.length * 100 + statusOrder.indexOf(worker.status);
      try {
        const row = { ...key(runId, `WORKER#${pad(worker.workerIndex)}`), order, record: worker };
        const { Put } = table.putting(row, ex`${absent} OR #order < ${order}`);
        const { Attributes } = await table.client.send(new PutCommand({ ...Put, ReturnValues: "ALL_OLD" }));
        return { newer: true, before: Attributes?.["record"] as WorkerRecord | undefined };
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        return { newer: false };
      }
    },

    async recordMachine(runId, machine) {
      const { instanceId } = machine;
      const found = instanceId === undefined ? {} : { gsi1pk: instanceKey(instanceId), gsi1sk: runId };
      await table.put({ ...key(runId, `MACHINE#${machine.memberId}`), record: machine, ...found }, absent);
    },

    async findOnInstance(instanceId) {
      const rows = await table.all(ex`gsi1pk = ${instanceKey(instanceId)}`, { index: "gsi1" });
      return rows.map((row) => ({
        runId: row["gsi1sk"] as string,
        memberId: (row["record"] as MachineRecord).memberId,
      }));
    },

    recordInterruptionNotice: (runId, memberId, at) =>
      table.update(
        key(runId, `MACHINE#${memberId}`),
        ex`SET #record.interruptionNoticeAt = ${at}`,
        ex`${exists} AND attribute_not_exists(#record.interruptionNoticeAt)`,
      ),

    recordRecovery(runId, recovery) {
      const row = { ...key(runId, `RECOVERY#${pad(recovery.generation)}`), record: recovery };
      const open = ex`${absent} OR attribute_not_exists(#record.seconds)`;
      return table.put(row, recovery.seconds === undefined ? absent : open);
    },
  };
}
