import { BatchGetCommand, type DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { inParts, mapLimited } from "../../core/each-limited";
import { pauseBeforeRound } from "./contention";

/** DynamoDB's limit. */
const keysPerCall = 100;
/** Calls side by side: 800 rows on the way. */
const callsAtOnce = 8;

type Item = Record<string, unknown>;

/** Rows by their keys, strongly consistent, in no order; those that are not there are left out. Keys must differ. */
export async function batchGet(
  client: DynamoDBDocumentClient,
  table: string,
  keys: readonly Record<string, string>[],
): Promise<readonly Item[]> {
  const found = await mapLimited(inParts(keys, keysPerCall), callsAtOnce, (some) => getChunk(client, table, some));
  return found.flat();
}

/** What one call leaves out, being past 16 MB or throttled, the next one asks for. */
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
