import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { InboxReport, InboxRepository } from "../../core/datasets/inbox/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { documents, holds, queryPage } from "./client";

/** Stores the reports of a team's inbox in the Catalog table (docs/access-patterns.md, "Inboxes"). */
export function createInboxRepository(client: DynamoDBDocumentClient, table: string, team: string): InboxRepository {
  const pk = `TEAM#${team}#INBOX`;
  const reportOf = (item: Record<string, unknown>): InboxReport => item["report"] as InboxReport;

  return {
    async find(id) {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: { pk, sk: `FILE#${id}` }, ConsistentRead: true }),
      );
      return Item && reportOf(Item);
    },

    async save(report, before) {
      const { id, putAt, dataset } = report;
      const condition = before
        ? {
            ConditionExpression:
              "#report.#status = :status AND #report.tries = :tries AND #report.sequencer = :sequencer",
            ExpressionAttributeNames: { "#report": "report", "#status": "status" },
            ExpressionAttributeValues: {
              ":status": before.status,
              ":tries": before.tries,
              ":sequencer": before.sequencer,
            },
          }
        : { ConditionExpression: "attribute_not_exists(pk)" };
      const Item = { pk, sk: `FILE#${id}`, gsi1pk: pk, gsi1sk: `${putAt}#${id}`, dataset, report };
      return holds(client.send(new PutCommand({ TableName: table, Item, ...condition })));
    },

    async list({ dataset, limit, nextToken }) {
      const page = await queryPage(
        client,
        {
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :pk",
          ...(dataset === undefined ? {} : { FilterExpression: "dataset = :dataset" }),
          ExpressionAttributeValues: { ":pk": pk, ...(dataset === undefined ? {} : { ":dataset": dataset }) },
          ScanIndexForward: false,
          Limit: limit,
        },
        nextToken,
      );
      return { items: page.items.map(reportOf), nextToken: page.nextToken };
    },
  };
}

export const inbox = teamPort({
  uses: { documents: documents() },
  grants: {
    read: [catalog("GetItem")],
    list: [queryIndex("Catalog", "gsi1")],
    write: [catalog("PutItem")],
  },
  make: ({ documents }, { config, team }) => createInboxRepository(documents, config.tables.catalog, team),
});
