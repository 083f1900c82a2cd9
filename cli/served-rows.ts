import type { ApiClient } from "../client/api-client";
import type { ServedBatch } from "../core/drift/served-log";
import { invalidOption } from "./option-values";

/** Returns the batches of served rows of a version. */
export function servedBatches(client: ApiClient, name: string, version: number): Promise<readonly ServedBatch[]> {
  return client.list("listServedBatches", { params: { name, version }, query: { limit: 200 } });
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a time: ISO 8601, or a duration before now such as 90m, 24h or 7d.
 *
 * @throws InvalidInputError
 */
export function timeBefore(option: string, text: string, now: number): number {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const time = amount === undefined ? Date.parse(text) : now - Number(amount) * units[unit as keyof typeof units];
  if (!Number.isNaN(time)) return time;
  const rule = "must be a time in ISO 8601, or a duration such as 24h or 7d";
  throw invalidOption(option, text, rule);
}
