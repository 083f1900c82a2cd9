import { Catalog } from "./store/catalog";
import { describeKey } from "./store/describe-key";
import { compose, kind, successor } from "./store/key-codec";
import { Store } from "./store/store";
import { decodeItem } from "./store/stored-item";
import type { TableDefinition } from "./store/table";
import { replaceItem } from "./store/write-item";

const chunk = 500;
/** The kinds of rows that are derived from the items. */
const derived: readonly string[] = [kind.index, kind.expiry, kind.count];

/**
 * Returns a function that describes keys with the remaining table definitions. It returns undefined for derived rows.
 */
export function dynamoDbKeyNames(rows: ReadonlyMap<string, string>): (key: Buffer) => string | undefined {
  const tables = [...rows].flatMap(([name, text]) => {
    const isDefinition = name.length > 1 && name[0] === kind.table;
    return isDefinition ? [JSON.parse(text) as TableDefinition] : [];
  });
  return (key) => (derived.includes(key.toString("latin1", 0, 1)) ? undefined : describeKey(key, tables));
}

/** Removes derived rows. */
export function mendDynamoDb(rows: Map<string, string>): readonly string[] {
  let lastId = 0;
  for (const name of [...rows.keys()]) if (derived.includes(name[0] ?? "")) rows.delete(name);
  for (const [name, text] of rows) {
    if (name[0] === kind.table && name.length > 1) lastId = Math.max(lastId, (JSON.parse(text) as TableDefinition).id);
    if (name[0] === kind.item) lastId = Math.max(lastId, Buffer.from(name, "latin1").readUInt32BE(1));
  }
  rows.set(kind.table, String(Math.max(lastId + 1, Number(rows.get(kind.table) ?? 1))));
  return [];
}

/** Rebuilds index entries, expiry times and counters from the items of a store without them. */
export async function rebuildDynamoDb(directory: string): Promise<void> {
  const store = await Store.open(directory);
  const catalog = await Catalog.open(store);
  for (const table of catalog.all()) {
    const prefix = compose(kind.item, [table.id]);
    let from = { gte: prefix, lt: successor(prefix) } as { gte?: Buffer; gt?: Buffer; lt: Buffer };
    for (;;) {
      const entries = await store.entries({ ...from, limit: chunk });
      const last = entries.at(-1);
      if (!last) break;
      await store.write((draft) => {
        for (const [key, text] of entries) {
          replaceItem(draft, table, { key, stored: undefined, item: undefined }, decodeItem(text));
        }
      });
      from = { gt: last[0], lt: from.lt };
    }
  }
  await store.close();
}
