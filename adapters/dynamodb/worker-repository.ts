import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { AllRuns } from "../../core/runs/run-repository";
import type { MachineRecord, WorkerRecord } from "../../core/runs/shapes";
import { holds, isConditionFailed, queryAll } from "./client";

type WorkerRepository = Pick<
  AllRuns,
  "recordWorker" | "recordMachine" | "findOnInstance" | "recordInterruptionNotice" | "recordRecovery"
>;

/** The order of a Batch job's statuses in time, by which a late event is recognized. */
const statusOrder = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"];

const pad = (n: number, digits: number): string => String(n).padStart(digits, "0");
const instanceKey = (instanceId: string): string => `INSTANCE#${instanceId}`;

/** Stores the rows of a run's workers, of their machines, and of their recoveries. */
export function createWorkerRepository(
  client: DynamoDBDocumentClient,
  table: string,
  key: (runId: string, sk: string) => { readonly pk: string; readonly sk: string },
): WorkerRepository {
  const putNew = (Item: Record<string, unknown>) =>
    client.send(new PutCommand({ TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)" }));

  return {
    async recordWorker(runId, worker) {
      // The platform's attempt, Batch's attempt and the status, each with a fixed number of digits, so that they are
      // compared in this order.
      const order = (worker.attempt ?? 1) * 100_000 + worker.attempts.length * 100 + statusOrder.indexOf(worker.status);
      try {
        const { Attributes } = await client.send(
          new PutCommand({
            TableName: table,
            Item: { ...key(runId, `WORKER#${pad(worker.workerIndex, 6)}`), order, record: worker },
            ConditionExpression: "attribute_not_exists(pk) OR #order < :order",
            ExpressionAttributeNames: { "#order": "order" },
            ExpressionAttributeValues: { ":order": order },
            ReturnValues: "ALL_OLD",
          }),
        );
        return { newer: true, before: Attributes?.["record"] as WorkerRecord | undefined };
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        return { newer: false };
      }
    },

    async recordMachine(runId, machine) {
      const { instanceId } = machine;
      const found = instanceId === undefined ? {} : { gsi1pk: instanceKey(instanceId), gsi1sk: runId };
      await holds(putNew({ ...key(runId, `MACHINE#${machine.memberId}`), record: machine, ...found }));
    },

    async findOnInstance(instanceId) {
      const rows = await queryAll(client, {
        TableName: table,
        IndexName: "gsi1",
        KeyConditionExpression: "gsi1pk = :instance",
        ExpressionAttributeValues: { ":instance": instanceKey(instanceId) },
      });
      return rows.map((row) => ({
        runId: row["gsi1sk"] as string,
        memberId: (row["record"] as MachineRecord).memberId,
      }));
    },

    recordInterruptionNotice: (runId, memberId, at) =>
      holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: key(runId, `MACHINE#${memberId}`),
            UpdateExpression: "SET #record.interruptionNoticeAt = :at",
            ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(#record.interruptionNoticeAt)",
            ExpressionAttributeNames: { "#record": "record" },
            ExpressionAttributeValues: { ":at": at },
          }),
        ),
      ),

    recordRecovery(runId, recovery) {
      const row = { ...key(runId, `RECOVERY#${pad(recovery.generation, 6)}`), record: recovery };
      if (recovery.seconds === undefined) return holds(putNew(row));
      return holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: row,
            ConditionExpression: "attribute_not_exists(pk) OR attribute_not_exists(#record.seconds)",
            ExpressionAttributeNames: { "#record": "record" },
          }),
        ),
      );
    },
  };
}
