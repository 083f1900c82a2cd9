import { join } from "node:path";
import type { JournalLocation } from "./journal";
import type { StoreLocation } from "./seal";

/** Returns the locations of the services' databases in a data directory. */
export function storesOf(data: string): readonly StoreLocation[] {
  const seals = join(data, "seals");
  const own = ["dynamodb", "states"].map((store) => ({ store, seals, directory: join(data, store) }));
  const nested = ["batch", "events", "iam", "lambda", "scheduler", "sns"].map((store) => ({
    store,
    seals,
    directory: join(data, store, `${store}.level`),
  }));
  return [...own, ...nested];
}

export function journalsOf(data: string): readonly JournalLocation[] {
  const seals = join(data, "seals");
  return [
    { seals, path: join(data, "events", "events-journal.ndjson") },
    { seals, path: join(data, "s3", "notifications.ndjson") },
  ];
}
