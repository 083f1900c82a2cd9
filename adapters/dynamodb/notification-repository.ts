import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { DueDeliveries, NotificationRepository } from "../../core/notifications/ports";
import type { Delivery, NotificationSettings } from "../../core/notifications/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { documents, holds, queryPage } from "./client";

const dueKey = "NOTIFICATIONS#DUE";
/** The time that a delivery is stored after its event. */
const keptSeconds = 30 * 86_400;
/** The maximum number of deliveries in one sweep. The next sweep takes the rest. */
const maxDue = 200;

/** Stores a team's notifications in the Catalog table (docs/access-patterns.md, "Notifications"). */
export function createNotificationRepository(
  client: DynamoDBDocumentClient,
  table: string,
  team: string,
): NotificationRepository {
  const pk = `TEAM#${team}#NOTIFICATIONS`;
  const settingsKey = { pk, sk: "SETTINGS" };
  const keyOf = ({ at, id, channel }: Delivery) => ({ pk, sk: `DELIVERY#${at}#${id}#${channel}` });
  const dueOf = ({ dueAt, id, channel }: Delivery) =>
    dueAt === undefined ? {} : { gsi1pk: dueKey, gsi1sk: `${dueAt}#${team}#${id}#${channel}` };
  const rowOf = (record: Delivery) => ({
    ...keyOf(record),
    ...dueOf(record),
    team,
    record,
    expiresAt: Math.floor(Date.parse(record.at) / 1_000) + keptSeconds,
  });

  return {
    async findSettings() {
      const { Item } = await client.send(new GetCommand({ TableName: table, Key: settingsKey, ConsistentRead: true }));
      return Item?.["record"] as NotificationSettings | undefined;
    },

    async putSettings(record) {
      await client.send(new PutCommand({ TableName: table, Item: { ...settingsKey, record } }));
    },

    create: (delivery) =>
      holds(
        client.send(
          new PutCommand({ TableName: table, Item: rowOf(delivery), ConditionExpression: "attribute_not_exists(pk)" }),
        ),
      ),

    claim: (delivery, dueAt) =>
      holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: keyOf(delivery),
            UpdateExpression: "SET #record.dueAt = :dueAt, gsi1sk = :due",
            ConditionExpression: "#record.#status = :pending AND #record.dueAt = :seen",
            ExpressionAttributeNames: { "#record": "record", "#status": "status" },
            ExpressionAttributeValues: {
              ":dueAt": dueAt,
              ":due": dueOf({ ...delivery, dueAt }).gsi1sk,
              ":pending": "pending",
              ":seen": delivery.dueAt,
            },
          }),
        ),
      ),

    async record(delivery) {
      await holds(
        client.send(
          new PutCommand({
            TableName: table,
            Item: rowOf(delivery),
            ConditionExpression: "#record.#status = :pending",
            ExpressionAttributeNames: { "#record": "record", "#status": "status" },
            ExpressionAttributeValues: { ":pending": "pending" },
          }),
        ),
      );
    },

    async list({ limit, nextToken }) {
      const page = await queryPage(
        client,
        {
          TableName: table,
          KeyConditionExpression: "pk = :pk AND begins_with(sk, :delivery)",
          ExpressionAttributeValues: { ":pk": pk, ":delivery": "DELIVERY#" },
          ScanIndexForward: false,
          ConsistentRead: true,
          Limit: limit,
        },
        nextToken,
      );
      return { items: page.items.map((item) => item["record"] as Delivery), nextToken: page.nextToken };
    },
  };
}

/** Finds the due deliveries of all teams. */
export function createDueDeliveries(client: DynamoDBDocumentClient, table: string): DueDeliveries {
  return {
    async list(before) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :due AND gsi1sk < :before",
          ExpressionAttributeValues: { ":due": dueKey, ":before": before },
          Limit: maxDue,
        }),
      );
      return Items.map((item) => ({ team: item["team"] as string, delivery: item["record"] as Delivery }));
    },
  };
}

export const dueDeliveries = sharedPort({
  uses: { documents: documents() },
  grants: { list: [queryIndex("Catalog", "gsi1")] },
  make: ({ documents }, { config }) => createDueDeliveries(documents, config.tables.catalog),
});

export const notifications = teamPort({
  uses: { documents: documents() },
  grants: {
    read: [catalog("GetItem")],
    list: [catalog("Query")],
    deliver: [catalog("PutItem", "UpdateItem")],
    configure: [catalog("PutItem")],
  },
  make: ({ documents }, { config, team }) => createNotificationRepository(documents, config.tables.catalog, team),
});
