import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { InvalidInputError } from "../../core/errors";
import { sendLean } from "./lean-client";

/** Far above any id that a client names, far below what a key may have: a longer one names nothing. */
export const longestId = 255;

/** A document client that keeps JavaScript's habits: `undefined` members are left out, numbers are doubles. */
export function createDocumentClient(client: DynamoDBClient = new DynamoDBClient({})): DynamoDBDocumentClient {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    // Else a whole number past 2^53, as of a loss that explodes, would come back as a bigint, which JSON has not.
    unmarshallOptions: { wrapNumbers: Number },
  });
  return sendLean(documents, client);
}

/** Every item of a query, page after page. */
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

/** True where a conditional write was done, false where its condition did not hold. */
export async function holds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
}

/** The error that DynamoDB answers when a condition does not hold. */
export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

/** Whether a transaction was cancelled because some condition did not hold (rather than by throttling or a conflict). */
export function isTransactionConditionFailed(error: unknown): boolean {
  return cancellationCodes(error).includes("ConditionalCheckFailed");
}

/** Whether the transaction is worth another try as it is: another one touched the same rows at the same moment, or the table had no capacity to spare. */
export function isTransactionConflict(error: unknown): boolean {
  const codes = cancellationCodes(error);
  return ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"].some((code) =>
    codes.includes(code),
  );
}

/** Why each item of a cancelled transaction was in the way, in their order; empty for any other error. */
export function cancellationCodes(error: unknown): readonly (string | undefined)[] {
  if (!(error instanceof Error) || error.name !== "TransactionCanceledException") return [];
  const { CancellationReasons } = error as Error & { CancellationReasons?: readonly { Code?: string }[] };
  return (CancellationReasons ?? []).map((reason) => reason.Code);
}

/** Opaque page tokens: the last evaluated key, base64url. */
function encodePageToken(key: Record<string, unknown> | undefined): string | undefined {
  return key === undefined ? undefined : Buffer.from(JSON.stringify(key)).toString("base64url");
}

/**
 * One page of a query. @throws InvalidInputError for a token that no page of this query gave: not JSON, or no key of the index.
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

/** Items that one page of a filtered query looks at, and calls that it makes, at most. */
const lookedAtACall = 500;
const maxCalls = 40;

/**
 * Returns the next `limit` items that meet the query's filter, over as many calls as that takes. Whether another item follows is looked up, so that no
 * page is empty but the first; after `maxCalls` calls a page ends early with a token.
 *
 * @param keyNames attributes of the table's and the index's key
 * @throws InvalidInputError as `queryPage`
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
