import { randomBytes } from "node:crypto";
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { RunKeys } from "../../core/runs/run-key";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { documents, holds } from "./client";

/** Stores the row `KEY` of a run (docs/access-patterns.md, "Runs"). */
export function createRunKeys(client: DynamoDBDocumentClient, table: string): RunKeys {
  const rowOf = (runId: string) => ({ pk: `RUN#${runId}`, sk: "KEY" });

  async function find(runId: string): Promise<string | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: rowOf(runId), ConsistentRead: true }));
    return Item?.["runKey"] as string | undefined;
  }

  return {
    find,
    async keyOf(runId) {
      const known = await find(runId);
      if (known !== undefined) return known;
      const runKey = randomBytes(32).toString("hex");
      const put = new PutCommand({
        TableName: table,
        Item: { ...rowOf(runId), runKey },
        ConditionExpression: "attribute_not_exists(pk)",
      });
      return (await holds(client.send(put))) ? runKey : ((await find(runId)) as string);
    },
  };
}

export const runKeys = sharedPort({
  uses: { documents: documents() },
  grants: { read: [catalog("GetItem")], create: [catalog("PutItem")] },
  make: ({ documents }, { config }) => createRunKeys(documents, config.tables.catalog),
});
