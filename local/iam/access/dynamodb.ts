import { account, region } from "../../account";
import type { RequestContext } from "../conditions";
import type { Access } from "../policy";

type Body = Readonly<Record<string, unknown>>;
type Item = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Returns the name of a table's partition key, or undefined if the table does not exist. */
export type PartitionKeyOf = (table: string) => string | undefined;

const arnOf = (table: string, index?: string): string =>
  `${table.startsWith("arn:") ? table : `arn:aws:dynamodb:${region}:${account}:table/${table}`}${index === undefined ? "" : `/index/${index}`}`;

export function dynamoDbAccesses(operation: string, body: Body, partitionKeyOf: PartitionKeyOf): readonly Access[] {
  const one = (action: string, table: string, index: string | undefined, keys: () => readonly unknown[]): Access => ({
    action: `dynamodb:${action}`,
    resource: table === "" ? "*" : arnOf(table, index),
    context: () => leadingKeys(keys()),
  });
  const keyIn = (table: string, item: unknown): unknown => {
    const name = partitionKeyOf(table.split("/").at(-1) ?? "");
    return name === undefined ? undefined : (item as Item | undefined)?.[name];
  };
  const items = (of: unknown): readonly (readonly [table: string, value: Body])[] =>
    Object.entries((of ?? {}) as Record<string, Body>);
  const table = String(body["TableName"] ?? "");

  switch (operation) {
    case "BatchGetItem":
      return items(body["RequestItems"]).map(([name, { Keys }]) =>
        one("BatchGetItem", name, undefined, () => ((Keys ?? []) as Item[]).map((key) => keyIn(name, key))),
      );
    case "BatchWriteItem":
      return items(body["RequestItems"]).map(([name, requests]) =>
        one("BatchWriteItem", name, undefined, () =>
          (requests as unknown as readonly Record<string, Body>[]).map(({ PutRequest, DeleteRequest }) =>
            keyIn(name, PutRequest?.["Item"] ?? DeleteRequest?.["Key"]),
          ),
        ),
      );
    case "TransactWriteItems":
      return ((body["TransactItems"] ?? []) as readonly Record<string, Body>[]).flatMap((part) =>
        Object.entries(part).map(([kind, request]) => {
          const name = String(request["TableName"] ?? "");
          const action = kind === "ConditionCheck" ? "ConditionCheckItem" : `${kind}Item`;
          return one(action, name, undefined, () => [keyIn(name, request["Item"] ?? request["Key"])]);
        }),
      );
    case "Query":
      return [
        one("Query", table, body["IndexName"] as string | undefined, () => [queriedKey(body, table, partitionKeyOf)]),
      ];
    default:
      return [
        one(operation, table, operation === "Scan" ? (body["IndexName"] as string | undefined) : undefined, () =>
          body["Key"] || body["Item"] ? [keyIn(table, body["Item"] ?? body["Key"])] : [],
        ),
      ];
  }
}

/** Returns the leading keys. The condition key is absent unless every key is known, so conditions on it then fail. */
function leadingKeys(keys: readonly unknown[]): RequestContext {
  const texts = keys.flatMap((key) => Object.values((key ?? {}) as Record<string, unknown>).map(String));
  return texts.length === keys.length && texts.length > 0 ? { "dynamodb:leadingkeys": texts } : {};
}

function queriedKey(body: Body, table: string, partitionKeyOf: PartitionKeyOf): unknown {
  if (body["IndexName"] !== undefined) return undefined;
  const name = partitionKeyOf(table.split("/").at(-1) ?? "");
  const condition = String(body["KeyConditionExpression"] ?? "");
  const names = (body["ExpressionAttributeNames"] ?? {}) as Readonly<Record<string, string>>;
  const values = (body["ExpressionAttributeValues"] ?? {}) as Readonly<Record<string, unknown>>;
  for (const [, attribute = "", placeholder = ""] of condition.matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)) {
    if ((names[attribute] ?? attribute) === name) return values[placeholder];
  }
  return undefined;
}
