import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { localConfig } from "../../../local/settings";
import { tables } from "../../../platform/tables";
import type { Embedded } from "../../support/embedded";

type Row = Readonly<Record<string, unknown>>;

/** Every row of every table by its keys, and every object's content by its key. */
export async function dump({ dynamodb, s3 }: Embedded): Promise<Readonly<Record<string, unknown>>> {
  const { prefix, bucket } = localConfig();
  const all: Record<string, unknown> = {};
  for (const { name } of tables) {
    let ExclusiveStartKey: Row | undefined;
    do {
      const page = await dynamodb.send(new ScanCommand({ TableName: `${prefix}-${name}`, ExclusiveStartKey }));
      for (const item of page.Items ?? []) all[`${name} ${item["pk"]} ${item["sk"]}`] = plain(item);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
  let ContinuationToken: string | undefined;
  do {
    const page = await s3.send(new ListObjectsV2Command({ Bucket: bucket, ContinuationToken }));
    for (const { Key, ETag } of page.Contents ?? []) all[`object ${Key}`] = ETag;
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
  return all;
}

/** Sets and bytes as what JSON has. */
function plain(item: Row): unknown {
  return JSON.parse(
    JSON.stringify(item, (_key, value: unknown) =>
      value instanceof Set ? [...(value as Set<unknown>)].sort() : value,
    ),
  );
}
