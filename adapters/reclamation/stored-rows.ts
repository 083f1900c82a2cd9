import { inflateRawSync } from "node:zlib";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { ReclamationRows } from "../../core/reclamation/ports";
import { scanCatalog } from "../../platform/permissions/grants";
import { catalogTable, type Item, type Table } from "../dynamodb/table";
import { sharedPort } from "../port";

/** A shorter text has no room for a digest. */
const digestLength = 64;
const maxInflatedBytes = 64 * 1024 * 1024;

/** Reads all rows of the Catalog. Other tables hold metrics and the addresses of workers, which refer to nothing. */
export function createReclamationRows(table: Table): ReclamationRows {
  return {
    async scan(position) {
      const ExclusiveStartKey = position === undefined ? undefined : (JSON.parse(position) as Item);
      const page = await table.client.send(
        new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey }),
      );
      const texts = [...textsOf(page.Items ?? [])].map((text) => Buffer.from(text));
      const next = page.LastEvaluatedKey === undefined ? undefined : JSON.stringify(page.LastEvaluatedKey);
      return { text: Buffer.concat(texts.flatMap((text) => [text, Buffer.from("\n")])), next };
    },
  };
}

/** Yields every text in a value that has room for a digest: names, strings, binary data, and compressed data. */
function* textsOf(value: unknown): Generator<string | Uint8Array> {
  if (typeof value === "string") {
    if (value.length >= digestLength) yield value;
  } else if (value instanceof Uint8Array) {
    yield value;
    const inflated = inflate(value);
    if (inflated) yield inflated;
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name.length >= digestLength) yield name;
      yield* textsOf(member);
    }
  }
}

/** Inflates data that adapters/dynamodb/record-rows.ts has compressed; `undefined` for other data. */
function inflate(data: Uint8Array): Uint8Array | undefined {
  try {
    return inflateRawSync(data, { maxOutputLength: maxInflatedBytes });
  } catch {
    return undefined;
  }
}

export const reclamationRows = sharedPort({
  uses: { table: catalogTable() },
  grants: { collect: [scanCatalog] },
  make: ({ table }) => createReclamationRows(table),
});
