import { type DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import type { HistoryEntry } from "../../core/registry/model";
import type { OutboxIndex } from "../../core/registry/outbox";
import { queryIndex } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { documents } from "./client";
import { outboxIndexKey } from "./model-repository";

/** The maximum number of events in one sweep. The next sweep takes the rest. */
const maxEvents = 500;

/** Finds the unpublished events of all teams, the oldest first. Eventually consistent. */
export function createOutboxIndex(client: DynamoDBDocumentClient, table: string): OutboxIndex {
  return {
    async list(before) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :outbox AND gsi1sk < :before",
          ExpressionAttributeValues: { ":outbox": outboxIndexKey, ":before": before },
          Limit: maxEvents,
        }),
      );
      return Items.map((item) => ({
        team: item["team"] as string,
        model: item["model"] as string,
        revision: (item["record"] as HistoryEntry).revision,
      }));
    },
  };
}

export const outboxIndex = sharedPort({
  uses: { documents: documents() },
  grants: { list: [queryIndex("Catalog", "gsi1")] },
  make: ({ documents }, { config }) => createOutboxIndex(documents, config.tables.catalog),
});
