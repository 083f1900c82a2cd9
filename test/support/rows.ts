import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { tables } from "../../platform/tables";
import { localConfig } from "../../stack/settings";
import type { Embedded } from "./embedded";

/** Reads all rows of the platform's tables, as JSON by table and keys. */
export async function allRows({ dynamodb }: Embedded): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { name, partitionKey, sortKey } of tables) {
    let from: Record<string, unknown> | undefined;
    do {
      const page = await dynamodb.send(
        new ScanCommand({ TableName: `${localConfig().prefix}-${name}`, ExclusiveStartKey: from }),
      );
      for (const item of page.Items ?? []) {
        found.set(`${name} ${item[partitionKey.name]} ${item[sortKey.name]}`, JSON.stringify(item));
      }
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
  }
  return found;
}
