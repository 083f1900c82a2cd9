import type { Clock } from "../../clock";
import type { Catalog } from "./catalog";
import { compose, kind, successor } from "./key-codec";
import type { Draft, Range, Store } from "./store";
import { decodeItem } from "./stored-item";
import type { Table } from "./table";
import { toDefinition } from "./table";
import { addEntry, addExpiry, expiryKeyHead, expirySecond, type Found, replaceItem } from "./write-item";

const sweepEveryMs = 10_000;
const chunk = 500;
/** TTL does not delete items that expired more than five years ago. */
const maxExpiredSeconds = 5 * 365 * 86_400;

/**
 * Background work: it removes expired items, deletes old transaction tokens, and does the work of table changes that
 * grows with the table. Each step is a small plan. Pending work is stored, so that a new process continues it.
 */
export class Maintenance {
  private cancelTimer: (() => void) | undefined;
  private closed = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
  ) {}

  async start(): Promise<void> {
    await this.removeScheduled();
    for (const { name } of [...this.catalog.all()]) {
      await this.backfill(name);
      await this.indexExpiry(name);
    }
    this.schedule();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.cancelTimer?.();
    await this.running;
  }

  private schedule(): void {
    if (this.closed) return;
    this.cancelTimer = this.clock.schedule(sweepEveryMs, () => {
      this.running = this.sweep()
        .catch((error: unknown) => {
          process.stderr.write(
            `${JSON.stringify({ level: "error", message: "DynamoDB sweep failed", error: String(error) })}\n`,
          );
        })
        .then(() => this.schedule());
    });
  }

  async sweep(): Promise<void> {
    await this.forgetTokens();
    for (const table of [...this.catalog.all()]) if (table.timeToLive) await this.expire(table.name);
  }

  private async expire(name: string): Promise<void> {
    const table = this.catalog.find(name);
    if (!table) return;
    const now = Math.floor(this.clock.now() / 1_000);
    const range = {
      gte: compose(kind.expiry, [table.id, Math.max(0, now - maxExpiredSeconds)]),
      lt: compose(kind.expiry, [table.id, now]),
    };
    await this.inChunks(range, (draft, key) => {
      const current = this.catalog.find(name);
      if (current?.id !== table.id || !current.timeToLive) return;
      const expired = findByKey(draft, compose(kind.item, [table.id], key.subarray(expiryKeyHead)));
      const second = expired.item && expirySecond(expired.item, current.timeToLive.attribute);
      if (second !== undefined && second < now) replaceItem(draft, current, expired, undefined);
    });
  }

  private async forgetTokens(): Promise<void> {
    const prefix = compose(kind.forget, []);
    const now = this.clock.now();
    for (;;) {
      const entries = await this.store.entries({ gte: prefix, lt: forgetKey(now, ""), limit: chunk });
      if (entries.length === 0 || this.closed) return;
      await this.store.write((draft) => {
        for (const [key, token] of entries) {
          draft.del(key);
          const kept = draft.get(tokenKey(token));
          if (kept !== undefined && (JSON.parse(kept) as { until: number }).until <= now) draft.del(tokenKey(token));
        }
      });
    }
  }

  private async backfill(name: string): Promise<void> {
    const table = this.catalog.find(name);
    const creating = table?.indexes.filter((index) => index.status === "CREATING") ?? [];
    if (!table || creating.length === 0) return;
    const ids = new Set(creating.map((index) => index.id));
    await this.eachItem(table, (draft, current, found) => {
      for (const index of current.indexes) if (ids.has(index.id)) addEntry(draft, current, index, found);
    });
    await this.store.write((draft) => {
      const current = this.catalog.find(name);
      if (current?.id !== table.id) return;
      const definition = toDefinition(current);
      const indexes = definition.indexes.map((index) =>
        ids.has(index.id) ? { ...index, status: "ACTIVE" as const } : index,
      );
      this.catalog.replace(draft, { ...definition, indexes });
    });
  }

  /** Indexes the expiry of items that existed before TTL was enabled. */
  async indexExpiry(name: string): Promise<void> {
    const table = this.catalog.find(name);
    if (!table?.timeToLive || table.timeToLive.ready) return;
    await this.eachItem(table, (draft, current, found) => {
      if (current.timeToLive) addExpiry(draft, current, current.timeToLive.attribute, found);
    });
    await this.store.write((draft) => {
      const current = this.catalog.find(name);
      if (current?.id !== table.id || !current.timeToLive) return;
      this.catalog.replace(draft, { ...toDefinition(current), timeToLive: { ...current.timeToLive, ready: true } });
    });
  }

  /** Records that the entries of an index and the expiry times of a table must be deleted, because they are derived again. */
  scheduleRemoval(draft: Draft, { id, indexes }: Table): void {
    const prefixes = [compose(kind.expiry, [id]), ...indexes.map((index) => compose(kind.index, [id, index.id]))];
    for (const prefix of prefixes) draft.put(compose(kind.removed, [], prefix), "");
  }

  private async removeScheduled(): Promise<void> {
    const prefix = compose(kind.removed, []);
    for (const key of await this.store.keys({ gte: prefix, lt: successor(prefix) })) {
      const removed = key.subarray(prefix.length);
      await this.inChunks({ gte: removed, lt: successor(removed) }, (draft, entry) => draft.del(entry));
      await this.store.write((draft) => draft.del(key));
    }
  }

  private async eachItem(table: Table, visit: (draft: Draft, table: Table, found: Found) => void): Promise<void> {
    const prefix = compose(kind.item, [table.id]);
    await this.inChunks({ gte: prefix, lt: successor(prefix) }, (draft, key) => {
      const current = this.catalog.find(table.name);
      if (current?.id === table.id) visit(draft, current, findByKey(draft, key));
    });
  }

  private async inChunks(range: Range, visit: (draft: Draft, key: Buffer) => void): Promise<void> {
    let from: Range = range;
    while (!this.closed) {
      const keys = await this.store.keys({ ...from, limit: chunk });
      const last = keys.at(-1);
      if (!last) return;
      await this.store.write((draft) => {
        for (const key of keys) visit(draft, key);
      });
      from = { gt: last, ...(range.lt ? { lt: range.lt } : {}) };
    }
  }
}

function findByKey(draft: Draft, key: Buffer): Found {
  const stored = draft.get(key);
  return { key, stored, item: stored === undefined ? undefined : decodeItem(stored) };
}

export function tokenKey(token: string): Buffer {
  return compose(kind.token, [], Buffer.from(token));
}

/** Returns a key that sorts by time. `until` is in milliseconds since the epoch. */
export function forgetKey(until: number, token: string): Buffer {
  const high = Math.floor(until / 2 ** 32);
  return compose(kind.forget, [high, until >>> 0], Buffer.from(token));
}
