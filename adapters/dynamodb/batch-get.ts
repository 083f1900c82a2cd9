import { BatchGetCommand, type DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { inParts, mapLimited } from "../../core/each-limited";
import { pauseBeforeRound } from "./client";

/** DynamoDB's limit. */
const keysPerCall = 100;
/** The number of concurrent calls: 800 rows at once. */
const callsAtOnce = 8;

type Item = Record<string, unknown>;

/**
 * Returns rows by their keys with strong consistency, in any order. Missing rows are omitted. Keys must be distinct.
 */
export async function batchGet(
  client: DynamoDBDocumentClient,
  table: string,
  keys: readonly Record<string, string>[],
): Promise<readonly Item[]> {
  const found = await mapLimited(inParts(keys, keysPerCall), callsAtOnce, (some) => getChunk(client, table, some));
  return found.flat();
}

/** Reads one chunk. The next call requests the keys that DynamoDB left out because of the 16 MB limit or throttling. */
async function getChunk(
  client: DynamoDBDocumentClient,
  table: string,
  chunk: readonly Record<string, string>[],
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let left: readonly Record<string, unknown>[] = chunk;
  for (let round = 0; left.length > 0; round += 1) {
    if (round > 0) await pauseBeforeRound(round);
    const answer = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: [...left], ConsistentRead: true } } }),
    );
    const items = answer.Responses?.[table] ?? [];
    found.push(...items);
    left = answer.UnprocessedKeys?.[table]?.Keys ?? [];
    if (items.length > 0) round = 0;
  }
  return found;
}
