import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { deleteRows as deleteTableRows, describeRows as describeTableRows } from "./dynamodb/repair";
import { damagedObjects } from "./s3/repair";
import { deletedWith, describeStatesKey } from "./states/repair";
import { DamagedStoreError } from "./storage/damage";
import { Database } from "./storage/database";
import { deleteLine, readJournal } from "./storage/journal";
import { journalsOf, type StoreLocation, storesOf } from "./storage/stores";

export interface DamagedItem {
  /** The name for `repair --delete`. */
  readonly item: string;
  readonly reason: string;
  /** Undefined if it cannot be deleted alone. */
  readonly delete?: () => void | Promise<void>;
}

export async function listDamage(data: string): Promise<readonly DamagedItem[]> {
  const items: DamagedItem[] = [];
  for (const location of storesOf(data)) {
    if (existsSync(location.directory)) items.push(...(await damagedRows(location)));
  }
  for (const path of journalsOf(data)) {
    for (const [line, entries] of readJournal(path).lines.entries()) {
      if (entries) continue;
      const reason = "events that were not delivered yet";
      items.push({ item: `${basename(path)}:${line + 1}`, reason, delete: () => deleteLine(path, line) });
    }
  }
  const objects = join(data, "s3");
  if (!existsSync(objects)) return items;
  for await (const { bucket, key, reason, delete: remove } of damagedObjects(objects)) {
    items.push({ item: `s3://${bucket}/${key}`, reason, delete: remove });
  }
  return items;
}

async function damagedRows(location: StoreLocation): Promise<readonly DamagedItem[]> {
  const { store, directory } = location;
  const database = new Database<Buffer>(location, "buffer");
  let keys: readonly Buffer[];
  try {
    await database.open();
    keys = await database.damagedKeys();
  } catch (error) {
    if (error instanceof DamagedStoreError) return [{ item: store, reason: error.message }];
    throw error;
  } finally {
    await database.close();
  }
  if (keys.length === 0) return [];
  if (store === "dynamodb") {
    const described = await describeTableRows(directory, keys);
    return keys.map((key, i) => ({
      item: `${store}/${key.toString("hex")}`,
      reason: described[i]!.description,
      ...(described[i]!.deletable && { delete: () => deleteTableRows(directory, [key]) }),
    }));
  }
  return keys.map((key) => ({
    item: `${store}/${key.toString()}`,
    reason: store === "states" ? describeStatesKey(key.toString()) : "a record",
    delete: () => deleteRows(location, key),
  }));
}

async function deleteRows(location: StoreLocation, key: Buffer): Promise<void> {
  const database = new Database<Buffer>(location, "buffer");
  await database.open();
  try {
    const keys = [key];
    if (location.store === "states") {
      const names = (await database.keys({})).map((each) => each.toString());
      keys.push(...deletedWith(key.toString(), names).map((name) => Buffer.from(name)));
    }
    await database.write(keys.map((each) => ({ key: each, value: undefined })));
  } finally {
    await database.close();
  }
}
