import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { type CauseRecord, isOpenCause } from "../../core/retraining/cause";
import type { RetrainingIndex, RetrainingRepository } from "../../core/retraining/ports";
import type { RetrainingRule, RuleState } from "../../core/retraining/rule";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { documents, holds, isTransactionConditionFailed, isTransactionConflict, queryAll, queryPage } from "./client";

type Writes = NonNullable<TransactWriteCommandInput["TransactItems"]>;

const sweptRules = "RETRAINING#RULES";
const openCauses = "RETRAINING#OPEN";
const notThere = "attribute_not_exists(pk)";

/** Stores a team's retraining rules in the Catalog table (docs/access-patterns.md, "Retraining"). */
export function createRetrainingRepository(
  client: DynamoDBDocumentClient,
  table: string,
  team: string,
): RetrainingRepository {
  const pk = (rule: string): string => `TEAM#${team}#RULE#${rule}`;
  const head = (rule: string) => ({ TableName: table, Key: { pk: pk(rule), sk: "RULE" } });
  const causeKey = (rule: string, id: string) => ({ pk: pk(rule), sk: `CAUSE#${id}` });

  async function read(key: Record<string, string>): Promise<Record<string, unknown> | undefined> {
    return (await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;
  }

  /** Runs a transaction. Returns false if a condition did not hold or another transaction changed the same rows. */
  async function transact(TransactItems: Writes): Promise<boolean> {
    try {
      await client.send(new TransactWriteCommand({ TransactItems }));
      return true;
    } catch (error) {
      if (isTransactionConditionFailed(error) || isTransactionConflict(error)) return false;
      throw error;
    }
  }

  /** Builds the row by which a dataset, a monitor or the sweep finds the rule. */
  function pointer(rule: RetrainingRule): Record<string, unknown> & { pk: string; sk: string } {
    const { trigger, name } = rule;
    const swept = trigger.type === "drift" ? {} : { gsi1pk: sweptRules, gsi1sk: `${team}#${name}` };
    return {
      pk: `TEAM#${team}#CAUSES#${trigger.type}#${subjectOf(rule)}`,
      sk: `RULE#${name}`,
      team,
      rule: name,
      ...swept,
    };
  }

  return {
    async save(rule, before) {
      const old = before && before.deletedAt === undefined ? pointer(before) : undefined;
      const next = rule.deletedAt === undefined ? pointer(rule) : undefined;
      return transact([
        {
          Update: {
            ...head(rule.name),
            UpdateExpression: `SET #record = :record, revision = :revision, starts = if_not_exists(starts, :none)${
              next ? ", gsi1pk = :list, gsi1sk = :name" : " REMOVE gsi1pk, gsi1sk"
            }`,
            ConditionExpression: before ? "revision = :before" : notThere,
            ExpressionAttributeNames: { "#record": "record" },
            ExpressionAttributeValues: {
              ":record": rule,
              ":revision": rule.revision,
              ":none": 0,
              ...(next ? { ":list": `TEAM#${team}#RULES`, ":name": rule.name } : {}),
              ...(before ? { ":before": before.revision } : {}),
            },
          },
        },
        ...(old && old.pk !== next?.pk ? [{ Delete: { TableName: table, Key: { pk: old.pk, sk: old.sk } } }] : []),
        ...(next ? [{ Put: { TableName: table, Item: next } }] : []),
      ]);
    },

    async find(name) {
      const item = await read(head(name).Key);
      return item && stateOf(item);
    },

    async list({ limit, nextToken }) {
      const page = await queryPage(
        client,
        {
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :list",
          ExpressionAttributeValues: { ":list": `TEAM#${team}#RULES` },
          Limit: limit,
        },
        nextToken,
      );
      return { items: page.items.map(stateOf), nextToken: page.nextToken };
    },

    async rulesOf(type, subject) {
      const items = await queryAll(client, {
        TableName: table,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": `TEAM#${team}#CAUSES#${type}#${subject}` },
        ConsistentRead: true,
      });
      return items.map((item) => item["rule"] as string);
    },

    markScheduled(name, revision) {
      return holds(
        client.send(
          new UpdateCommand({
            ...head(name),
            UpdateExpression: "SET scheduledRevision = :revision",
            ConditionExpression: "revision = :revision",
            ExpressionAttributeValues: { ":revision": revision },
          }),
        ),
      );
    },

    async recordFailure(name, failure) {
      await client.send(
        new UpdateCommand({
          ...head(name),
          UpdateExpression: "SET lastFailure = :failure",
          ConditionExpression: "attribute_exists(pk)",
          ExpressionAttributeValues: { ":failure": failure },
        }),
      );
    },

    async findCause(rule, id) {
      return (await read(causeKey(rule, id)))?.["record"] as CauseRecord | undefined;
    },

    async listCauses(rule, { limit, nextToken }) {
      const page = await queryPage(
        client,
        {
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :rule",
          ExpressionAttributeValues: { ":rule": `${pk(rule)}#CAUSES` },
          ScanIndexForward: false,
          Limit: limit,
        },
        nextToken,
      );
      return { items: page.items.map((item) => item["record"] as CauseRecord), nextToken: page.nextToken };
    },

    async putCause(record, from, start) {
      const { rule, id, state, heardAt } = record;
      const open = { pk: pk(rule), sk: `OPEN#${id}` };
      return transact([
        {
          Put: {
            TableName: table,
            Item: {
              ...causeKey(rule, id),
              gsi1pk: `${pk(rule)}#CAUSES`,
              gsi1sk: `${heardAt}#${id}`,
              state,
              record,
            },
            ...(from === undefined
              ? { ConditionExpression: notThere }
              : {
                  ConditionExpression: "#state = :from",
                  ExpressionAttributeNames: { "#state": "state" },
                  ExpressionAttributeValues: { ":from": from },
                }),
          },
        },
        isOpenCause(record)
          ? {
              Put: {
                TableName: table,
                Item: { ...open, gsi1pk: openCauses, gsi1sk: `${heardAt}#${team}#${rule}`, team, rule, id },
              },
            }
          : { Delete: { TableName: table, Key: open } },
        ...(start ? [counted(start, record.changedAt)] : []),
      ]);
    },
  };

  function counted({ rule, starts }: RuleState, at: string): Writes[number] {
    return {
      Update: {
        ...head(rule.name),
        UpdateExpression: "SET starts = :next, lastStartedAt = :at",
        ConditionExpression: "starts = :seen AND revision = :revision",
        ExpressionAttributeValues: { ":seen": starts, ":next": starts + 1, ":at": at, ":revision": rule.revision },
      },
    };
  }
}

/** Finds the rules of all teams for the sweep. */
export function createRetrainingIndex(client: DynamoDBDocumentClient, table: string): RetrainingIndex {
  const listed = (list: string) =>
    queryAll(client, {
      TableName: table,
      IndexName: "gsi1",
      KeyConditionExpression: "gsi1pk = :list",
      ExpressionAttributeValues: { ":list": list },
    });
  const text = (item: Record<string, unknown>, name: string): string => item[name] as string;
  return {
    rules: async () =>
      (await listed(sweptRules)).map((item) => ({ team: text(item, "team"), rule: text(item, "rule") })),
    openCauses: async () =>
      (await listed(openCauses)).map((item) => ({
        team: text(item, "team"),
        rule: text(item, "rule"),
        id: text(item, "id"),
      })),
  };
}

/** Returns the name of the resource that a rule's trigger watches. Schedules have none. */
function subjectOf({ trigger }: RetrainingRule): string {
  if (trigger.type === "dataset") return trigger.dataset;
  return trigger.type === "drift" ? trigger.monitor : "-";
}

function stateOf(item: Record<string, unknown>): RuleState {
  const optional = (name: "lastStartedAt" | "scheduledRevision" | "lastFailure") =>
    item[name] === undefined ? {} : { [name]: item[name] };
  return {
    rule: item["record"] as RetrainingRule,
    starts: item["starts"] as number,
    ...optional("lastStartedAt"),
    ...optional("scheduledRevision"),
    ...optional("lastFailure"),
  };
}

export const retrainingIndex = sharedPort({
  uses: { documents: documents() },
  grants: { list: [queryIndex("Catalog", "gsi1")] },
  make: ({ documents }, { config }) => createRetrainingIndex(documents, config.tables.catalog),
});

export const retraining = teamPort({
  uses: { documents: documents() },
  grants: {
    read: [catalog("GetItem", "Query")],
    write: [catalog("PutItem", "UpdateItem", "DeleteItem")],
  },
  make: ({ documents }, { config, team }) => createRetrainingRepository(documents, config.tables.catalog, team),
});
