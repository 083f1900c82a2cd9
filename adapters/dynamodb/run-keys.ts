import { randomBytes } from "node:crypto";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { RunKeys } from "../../core/runs/run-key";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { documents } from "./client";
import { absent } from "./expression";
import { Table } from "./table";

/** Stores the row `KEY` of a run (docs/access-patterns.md, "Runs"). */
export function createRunKeys(client: DynamoDBDocumentClient, tableName: string): RunKeys {
  const table = new Table(client, tableName);
  const rowOf = (runId: string) => ({ pk: `RUN#${runId}`, sk: "KEY" });

  async function find(runId: string): Promise<string | undefined> {
    return (await table.get(rowOf(runId)))?.["runKey"] as string | undefined;
  }

  return {
    find,
    async keyOf(runId) {
      const known = await find(runId);
      if (known !== undefined) return known;
      const runKey = randomBytes(32).toString("hex");
      return (await table.put({ ...rowOf(runId), runKey }, absent)) ? runKey : ((await find(runId)) as string);
    },
  };
}

export const runKeys = sharedPort({
  uses: { documents: documents() },
  grants: { read: [catalog("GetItem")], create: [catalog("PutItem")] },
  make: ({ documents }, { config }) => createRunKeys(documents, config.tables.catalog),
});
