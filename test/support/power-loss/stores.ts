import { join } from "node:path";
import { Store } from "../../../local/dynamodb/store/store";
import { Database } from "../../../local/storage/database";
import { Journal } from "../../../local/storage/journal";
import { JsonDatabase } from "../../../local/storage/json-database";
import { openObjects } from "./objects";

const buffer = 64 * 1024;

/**
 * Opens the stores under test: those of DynamoDB, of the services that keep JSON, a journal, and S3.
 *
 * @param acknowledge see `openObjects`
 */
export async function openStores(data: string, acknowledge?: (step: string) => void) {
  const tables = await Store.open(join(data, "dynamodb"));
  const small = new Database<string>(
    { directory: join(data, "small"), store: "small", writeBufferBytes: buffer },
    "utf8",
  );
  await small.open();
  const json = new JsonDatabase<number>({ directory: join(data, "states"), store: "states" });
  await json.open();
  const journal = new Journal<number>(join(data, "journal.ndjson"));
  const objects = await openObjects(data, acknowledge);
  return {
    tables,
    small,
    json,
    journal,
    objects,
    async close() {
      await objects.close();
      await Promise.all([tables.close(), small.close(), json.close()]);
      journal.close();
    },
  };
}
