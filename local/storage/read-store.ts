import { Database } from "./database";
import type { StoreLocation } from "./seal";

/** Opens a store of text keys like its service, and returns all of its records. @throws DamagedStoreError */
export async function readStore(location: StoreLocation): Promise<ReadonlyMap<string, string>> {
  const database = new Database<string>(location, "utf8");
  await database.open();
  try {
    return new Map(await database.entries({}));
  } finally {
    await database.close();
  }
}
