import { createHash } from "node:crypto";
import { join } from "node:path";
import { Store } from "../../local/dynamodb/store/store";
import { Database } from "../../local/storage/database";
import { Journal } from "../../local/storage/journal";
import { JsonDatabase } from "../../local/storage/json-database";

const buffer = 64 * 1024;

/** The stores under test: those of DynamoDB, of the services that keep JSON, and a journal. */
export async function openStores(data: string) {
  const seals = join(data, "seals");
  const tables = await Store.open(join(data, "dynamodb"), seals);
  const small = new Database<string>(
    { directory: join(data, "small"), seals, store: "small", writeBufferBytes: buffer },
    "utf8",
  );
  await small.open();
  const json = new JsonDatabase<number>({ directory: join(data, "states"), seals, store: "states" });
  await json.open();
  const journal = new Journal<number>({ path: join(data, "journal.ndjson"), seals });
  return {
    tables,
    small,
    json,
    journal,
    async close() {
      await Promise.all([tables.close(), small.close(), json.close()]);
      journal.close();
    },
  };
}

export const contentOf = (key: string): string => `${key} ${createHash("sha256").update(key).digest("hex").repeat(20)}`;
