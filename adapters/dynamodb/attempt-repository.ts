import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { type MonthUsage, monthOf } from "../../core/runs/attempt-repository";
import type { AllRuns } from "../../core/runs/run-repository";
import { isTransactionConditionFailed, isTransactionConflict } from "./client";

/** The number of retries after a conflict. All attempts of a team in one month update the same row. */
const conflictAttempts = 10;

const monthKey = (team: string, month: string) => ({ pk: `TEAM#${team}#USAGE`, sk: `MONTH#${month}` });

/** Stores the rows `ATTEMPT#<4 digits>` of a run (docs/access-patterns.md, "Runs"). */
export function createAttemptRepository(
  client: DynamoDBDocumentClient,
  table: string,
  key: (runId: string, sk: string) => Record<string, string>,
): Pick<AllRuns, "beginAttempt" | "takeOverAttempt" | "recordJob" | "completeAttempt" | "monthUsage"> {
  const attemptKey = (runId: string, attempt: number) => key(runId, `ATTEMPT#${String(attempt).padStart(4, "0")}`);
  const names = { "#record": "record", "#status": "status" };

  /** Writes in one transaction with a check of the run, so that an attempt does not change after the run's end. */
  async function whileTraining(runId: string, write: Record<string, unknown>): Promise<boolean> {
    const check = {
      ConditionCheck: {
        TableName: table,
        Key: key(runId, "RUN"),
        ConditionExpression: "#status IN (:queued, :running) AND phase = :training",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":queued": "queued", ":running": "running", ":training": "LaunchTraining" },
      },
    };
    return transact([check, write]);
  }

  /**
   * Runs a transaction. Returns false if a condition does not hold. Retries after a conflict with another transaction.
   */
  async function transact(TransactItems: TransactWriteCommandInput["TransactItems"]): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.send(new TransactWriteCommand({ TransactItems }));
        return true;
      } catch (error) {
        if (isTransactionConditionFailed(error)) return false;
        if (!isTransactionConflict(error) || attempt === conflictAttempts) throw error;
      }
    }
  }

  return {
    beginAttempt: (runId, attempt) =>
      whileTraining(runId, {
        Put: {
          TableName: table,
          Item: { ...attemptKey(runId, attempt.attempt), record: attempt },
          ConditionExpression: "attribute_not_exists(pk)",
        },
      }),

    takeOverAttempt: (runId, attempt, claimedAt, at) =>
      whileTraining(runId, {
        Update: {
          TableName: table,
          Key: attemptKey(runId, attempt),
          UpdateExpression: "SET #record.claimedAt = :at",
          ConditionExpression: "#record.#status = :submitting AND #record.claimedAt = :claimedAt",
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ":at": at, ":submitting": "submitting", ":claimedAt": claimedAt },
        },
      }),

    recordJob: (runId, attempt, jobId) =>
      whileTraining(runId, {
        Update: {
          TableName: table,
          Key: attemptKey(runId, attempt),
          UpdateExpression: "SET #record.#status = :submitted, #record.jobId = :jobId",
          ConditionExpression: "#record.#status = :submitting",
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ":submitting": "submitting", ":submitted": "submitted", ":jobId": jobId },
        },
      }),

    async completeAttempt(team, runId, attempt, { status, reason, at, jobId, usage }) {
      const optional = { reason, jobId, usage };
      const given = Object.entries(optional).filter(([, value]) => value !== undefined);
      const update = ["#record.#status = :status", "#record.endedAt = :at"];
      const values: Record<string, unknown> = {
        ":status": status,
        ":at": at,
        ":submitting": "submitting",
        ":submitted": "submitted",
      };
      const allNames: Record<string, string> = { ...names };
      for (const [name, value] of given) {
        update.push(`#record.#${name} = :${name}`);
        allNames[`#${name}`] = name;
        values[`:${name}`] = value;
      }
      const row = {
        Update: {
          TableName: table,
          Key: attemptKey(runId, attempt),
          UpdateExpression: `SET ${update.join(", ")}`,
          ConditionExpression: "#record.#status IN (:submitting, :submitted)",
          ExpressionAttributeNames: allNames,
          ExpressionAttributeValues: values,
        },
      };
      const month = {
        Update: {
          TableName: table,
          Key: monthKey(team, monthOf(at)),
          UpdateExpression: "ADD workerSeconds :workers, gpuSeconds :gpus, estimatedUsd :usd",
          ExpressionAttributeValues: {
            ":workers": usage?.workerSeconds,
            ":gpus": usage?.gpuSeconds,
            ":usd": usage?.estimatedUsd ?? 0,
          },
        },
      };
      return transact(usage === undefined ? [row] : [row, month]);
    },

    async monthUsage(team, month) {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: monthKey(team, month), ConsistentRead: true }),
      );
      const { workerSeconds = 0, gpuSeconds = 0, estimatedUsd = 0 } = (Item ?? {}) as Partial<MonthUsage>;
      return { workerSeconds, gpuSeconds, estimatedUsd };
    },
  };
}
