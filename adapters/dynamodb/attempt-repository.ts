import { type DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { AttemptRepository } from "../../core/training/attempt-repository";
import { holds, isTransactionConditionFailed } from "./client";

/** The rows `ATTEMPT#<4 digits>` of a run; see docs/access-patterns.md, "Runs". */
export function createAttemptRepository(
  client: DynamoDBDocumentClient,
  table: string,
  key: (runId: string, sk: string) => Record<string, string>,
): AttemptRepository {
  const attemptKey = (runId: string, attempt: number) => key(runId, `ATTEMPT#${String(attempt).padStart(4, "0")}`);
  const names = { "#record": "record", "#status": "status" };

  /** In one transaction with the look at the run: an attempt does not change behind its end. */
  async function whileTraining(runId: string, write: Record<string, unknown>): Promise<boolean> {
    const run = {
      ConditionCheck: {
        TableName: table,
        Key: key(runId, "RUN"),
        ConditionExpression: "#status IN (:queued, :running) AND phase = :training",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: { ":queued": "queued", ":running": "running", ":training": "LaunchTraining" },
      },
    };
    try {
      await client.send(new TransactWriteCommand({ TransactItems: [run, write] }));
      return true;
    } catch (error) {
      if (!isTransactionConditionFailed(error)) throw error;
      return false;
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

    endAttempt(runId, attempt, { status, reason, at, jobId, usage }) {
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
      return holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: attemptKey(runId, attempt),
            UpdateExpression: `SET ${update.join(", ")}`,
            ConditionExpression: "#record.#status IN (:submitting, :submitted)",
            ExpressionAttributeNames: allNames,
            ExpressionAttributeValues: values,
          }),
        ),
      );
    },
  };
}
