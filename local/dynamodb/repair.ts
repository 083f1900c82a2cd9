import { systemClock } from "../clock";
import { Catalog } from "./store/catalog";
import { describeKey } from "./store/describe-key";
import { kind } from "./store/key-codec";
import { Maintenance } from "./store/maintenance";
import { Store } from "./store/store";
import { toDefinition } from "./store/table";

/** Describes rows, and says which of them can be deleted: without the definition of a table its items are lost. */
export async function describeRows(
  directory: string,
  keys: readonly Buffer[],
): Promise<readonly { readonly description: string; readonly deletable: boolean }[]> {
  const isDefinition = (key: Buffer) => key.toString("latin1", 0, 1) === kind.table;
  // The definitions can be read only if all of them are intact.
  const tables = keys.some(isDefinition) ? [] : await withTables(directory, ({ catalog }) => [...catalog.all()]);
  const definitions = tables.map(toDefinition);
  return keys.map((key) => ({ description: describeKey(key, definitions), deletable: !isDefinition(key) }));
}

export function deleteRows(directory: string, keys: readonly Buffer[]): Promise<void> {
  return withTables(directory, ({ store, catalog }) => {
    const maintenance = new Maintenance(store, catalog, systemClock);
    return store.write((draft) => {
      for (const key of keys) draft.del(key);
      for (const table of [...catalog.all()]) {
        if (!keys.some((key) => key.length > 4 && key.readUInt32BE(1) === table.id)) continue;
        maintenance.scheduleRemoval(draft, table);
        const definition = toDefinition(table);
        const { timeToLive } = definition;
        catalog.replace(draft, {
          ...definition,
          indexes: definition.indexes.map((index) => ({ ...index, status: "CREATING" })),
          ...(timeToLive && { timeToLive: { ...timeToLive, ready: false } }),
        });
      }
    });
  });
}

async function withTables<T>(
  directory: string,
  use: (open: { readonly store: Store; readonly catalog: Catalog }) => T | Promise<T>,
): Promise<T> {
  const store = await Store.open(directory);
  try {
    return await use({ store, catalog: await Catalog.open(store) });
  } finally {
    await store.close();
  }
}
