import { join } from "node:path";

export interface StoreLocation {
  readonly directory: string;
  readonly store: string;
}

export function storesOf(data: string): readonly StoreLocation[] {
  const services = ["dynamodb", "states"].map((store) => ({ store, directory: join(data, store) }));
  const nested = ["batch", "events", "iam", "lambda", "scheduler", "sns"].map((store) => ({
    store,
    directory: join(data, store, `${store}.level`),
  }));
  return [...services, ...nested];
}

export function journalsOf(data: string): readonly string[] {
  return [join(data, "events", "events-journal.ndjson"), join(data, "s3", "notifications.ndjson")];
}
