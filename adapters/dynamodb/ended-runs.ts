import { type DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { EndedRuns } from "../../core/training/end-sessions";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { documents, queryAll } from "./client";

/** Stores the rows of runs that have ended recently (docs/access-patterns.md, "Runs"). */
export function createEndedRuns(client: DynamoDBDocumentClient, table: string): EndedRuns {
  const pk = "RUNS#ENDED";
  return {
    async add({ runId, endedAt }, until) {
      const Item = { pk, sk: runId, endedAt, expiresAt: Math.ceil(until / 1_000) };
      await client.send(new PutCommand({ TableName: table, Item }));
    },
    async list() {
      const rows = await queryAll(client, {
        TableName: table,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": pk },
        ConsistentRead: true,
      });
      return rows.map(({ sk, endedAt }) => ({ runId: String(sk), endedAt: String(endedAt) }));
    },
  };
}

export const endedRuns = sharedPort({
  uses: { documents: documents() },
  grants: { record: [catalog("PutItem", "Query")] },
  make: ({ documents }, { config }) => createEndedRuns(documents, config.tables.catalog),
});
