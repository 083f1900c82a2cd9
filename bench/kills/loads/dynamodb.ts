import {
  CreateTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ResourceInUseException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Load, Operation } from "../../../test/support/operation-verdict";
import { integerBelow } from "../../../test/support/random";

const TableName = "Kills";
const key = (pk: string) => ({ TableName, Key: { pk: { S: pk } }, ConsistentRead: true });

/** Puts, transactions and updates of one shared row, with a stock DynamoDB client. */
export async function dynamodbLoad(client: DynamoDBClient): Promise<Load> {
  let list = "";
  await client
    .send(
      new CreateTableCommand({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      }),
    )
    .catch((error: unknown) => {
      if (!(error instanceof ResourceInUseException)) throw error;
    });
  return {
    name: "DynamoDB",
    weight: 5,
    async begin(round) {
      list = `list-${round}`;
    },
    draw: (random, id) => {
      const share = random();
      if (share < 0.4) return putItem(client, id, integerBelow(random, 20_000));
      if (share < 0.7) return transact(client, id, 2 + integerBelow(random, 20));
      return append(client, id, list);
    },
    async audit(entries) {
      const sent = entries.filter(({ operation }) => operation.kind === "DynamoDB: transaction");
      const done = (await Promise.all(sent.map(({ operation }) => operation.count()))).reduce((a, b) => a + b, 0);
      const { Item } = await client.send(new GetItemCommand(key("counter")));
      const counted = Number(Item?.["n"]?.N ?? 0);
      return counted === done ? [] : [`the counter says ${counted}, ${done} transactions are there`];
    },
  };
}

function putItem(client: DynamoDBClient, id: string, bytes: number): Operation {
  const value = id.repeat(Math.ceil((bytes + 1) / id.length));
  return {
    kind: "DynamoDB: put",
    id,
    repeatable: true,
    async send() {
      await client.send(new PutItemCommand({ TableName, Item: { pk: { S: id }, value: { S: value } } }));
    },
    async count() {
      const { Item } = await client.send(new GetItemCommand(key(id)));
      if (Item && Item["value"]?.S !== value) throw new Error("the item has another value");
      return Item ? 1 : 0;
    },
  };
}

/** Items and a counter: all or none, once, because the first item must be absent. */
function transact(client: DynamoDBClient, id: string, items: number): Operation {
  const keys = Array.from({ length: items }, (_, at) => `${id}-${at}`);
  return {
    kind: "DynamoDB: transaction",
    id,
    repeatable: true,
    async send(again) {
      const puts = keys.map((pk) => ({
        Put: { TableName, Item: { pk: { S: pk } }, ConditionExpression: "attribute_not_exists(pk)" },
      }));
      const Update = {
        ...{ TableName, Key: { pk: { S: "counter" } }, UpdateExpression: "ADD n :one" },
        ExpressionAttributeValues: { ":one": { N: "1" } },
      };
      try {
        await client.send(new TransactWriteItemsCommand({ TransactItems: [...puts, { Update }] }));
      } catch (error) {
        const { name, message } = error as Error;
        // The first attempt was applied.
        if (again && name === "TransactionCanceledException" && message.includes("ConditionalCheckFailed")) return;
        throw error;
      }
    },
    async count() {
      const found = await Promise.all(keys.map((pk) => client.send(new GetItemCommand(key(pk)))));
      const there = found.filter(({ Item }) => Item).length;
      if (there !== 0 && there !== items) throw new Error(`${there} of ${items} items`);
      return there === 0 ? 0 : 1;
    },
  };
}

/** Appends. Not repeatable: a second append would be visible. */
function append(client: DynamoDBClient, id: string, pk: string): Operation {
  return {
    kind: "DynamoDB: update of one row",
    id,
    repeatable: false,
    async send() {
      await client.send(
        new UpdateItemCommand({
          ...{ TableName, Key: { pk: { S: pk } } },
          UpdateExpression: "SET ids = list_append(if_not_exists(ids, :none), :id)",
          ExpressionAttributeValues: { ":none": { L: [] }, ":id": { L: [{ S: id }] } },
        }),
      );
    },
    async count() {
      const { Item } = await client.send(new GetItemCommand(key(pk)));
      return (Item?.["ids"]?.L ?? []).filter(({ S }) => S === id).length;
    },
  };
}
