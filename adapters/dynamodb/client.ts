import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { createPause } from "../../core/backoff";
import { InvalidInputError } from "../../core/errors";
import { sharedPort } from "../port";
import { sendLean } from "./lean-client";

/**
 * The maximum length of an id: far above the length of any client's id and far below the limit on keys. A longer id
 * matches nothing.
 */
export const maxIdLength = 255;

/**
 * Creates a document client with JavaScript's conventions: `undefined` members are omitted, and numbers are doubles.
 */
export function createDocumentClient(client: DynamoDBClient = new DynamoDBClient({})): DynamoDBDocumentClient {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    // Otherwise a whole number past 2^53, e.g. a diverging loss, would be returned as a bigint, which JSON does not
    // support.
    unmarshallOptions: { wrapNumbers: Number },
  });
  return sendLean(documents, client);
}

/** Returns all items of a query. */
export async function queryAll(
  client: DynamoDBDocumentClient,
  query: QueryCommandInput,
): Promise<readonly Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new QueryCommand({ ...query, ExclusiveStartKey: start }));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

/** Awaits a conditional write. Returns true if it was made, and false if its condition did not hold. */
export async function holds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
}

/** Returns whether DynamoDB reported a failed condition. */
export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

/**
 * Returns whether a transaction was cancelled because a condition did not hold, and not by throttling or a conflict.
 */
export function isTransactionConditionFailed(error: unknown): boolean {
  return cancellationCodes(error).includes("ConditionalCheckFailed");
}

/**
 * Returns whether the transaction can be retried unchanged: another one accessed the same rows at the same time, or the
 * table was throttled.
 */
export function isTransactionConflict(error: unknown): boolean {
  const codes = cancellationCodes(error);
  return ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"].some((code) =>
    codes.includes(code),
  );
}

/** Returns the cancellation code of each item of a cancelled transaction, in order. Empty for any other error. */
export function cancellationCodes(error: unknown): readonly (string | undefined)[] {
  if (!(error instanceof Error) || error.name !== "TransactionCanceledException") return [];
  const { CancellationReasons } = error as Error & { CancellationReasons?: readonly { Code?: string }[] };
  return (CancellationReasons ?? []).map((reason) => reason.Code);
}

/** Encodes a page token: the last evaluated key in base64url. */
function encodePageToken(key: Record<string, unknown> | undefined): string | undefined {
  return key === undefined ? undefined : Buffer.from(JSON.stringify(key)).toString("base64url");
}

/**
 * Returns one page of a query. @throws InvalidInputError for a token that is not from this query: not JSON, or not a
 * key of the index
 */
export async function queryPage(
  client: DynamoDBDocumentClient,
  query: QueryCommandInput,
  token: string | undefined,
): Promise<{ readonly items: readonly Record<string, unknown>[]; readonly nextToken: string | undefined }> {
  const start = token === undefined ? undefined : decodePageToken(token);
  if (token !== undefined && start === undefined) throw wrongToken(token);
  try {
    const page = await client.send(new QueryCommand({ ...query, ExclusiveStartKey: start }));
    return { items: page.Items ?? [], nextToken: encodePageToken(page.LastEvaluatedKey) };
  } catch (cause) {
    if (token !== undefined && cause instanceof Error && cause.name === "ValidationException")
      throw wrongToken(token, cause);
    throw cause;
  }
}

/** The number of items that one call of a filtered query reads. */
const lookedAtACall = 500;
const maxCalls = 40;

/**
 * Returns the next `limit` items that match the query's filter, with as many calls as needed. It checks whether another
 * item follows, so only the first page can be empty. After `maxCalls` calls a page ends early with a token.
 *
 * @param keyNames attributes of the table's and the index's key
 * @throws InvalidInputError like `queryPage`
 */
export async function queryMatching(
  client: DynamoDBDocumentClient,
  query: QueryCommandInput,
  limit: number,
  token: string | undefined,
  keyNames: readonly string[],
): ReturnType<typeof queryPage> {
  const Limit = query.FilterExpression === undefined ? limit + 1 : lookedAtACall;
  const items: Record<string, unknown>[] = [];
  let next = token;
  for (let call = 1; call <= maxCalls; call += 1) {
    const page = await queryPage(client, { ...query, Limit }, next);
    items.push(...page.items);
    next = page.nextToken;
    if (items.length > limit) {
      const last = items[limit - 1]!;
      const key = Object.fromEntries(keyNames.map((name) => [name, last[name]]));
      return { items: items.slice(0, limit), nextToken: encodePageToken(key) };
    }
    if (next === undefined) break;
  }
  return { items, nextToken: next };
}

function wrongToken(value: string, cause?: unknown): InvalidInputError {
  const rule = "must be the nextToken of an earlier page";
  return new InvalidInputError("the page cannot be listed", [{ path: "nextToken", value, rule }], cause);
}

function decodePageToken(token: string): Record<string, unknown> | undefined {
  try {
    const key: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    return key !== null && typeof key === "object" ? (key as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The client of DynamoDB. */
export const documents = sharedPort({ make: () => createDocumentClient() });

/** Waits before the next round of an optimistic write, or before a retry of a request. */
export const pauseBeforeRound = createPause({ firstMs: 10, maxMs: 2_000 }, sleep, Math.random);
