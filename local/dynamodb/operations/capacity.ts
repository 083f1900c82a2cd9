import { indexKey } from "../store/item-keys";
import { storedBytes } from "../store/stored-item";
import type { Table } from "../store/table";
import type { Found } from "../store/write-item";
import type { Item } from "../value/attribute-value";
import { itemBytes } from "../value/size";
import type { Fields } from "../wire/fields";

export type CapacityDetail = "INDEXES" | "TOTAL" | "NONE" | undefined;

export function readCapacityDetail(fields: Fields): CapacityDetail {
  return fields.choice("ReturnConsumedCapacity", ["INDEXES", "TOTAL", "NONE"]);
}

/** Units of reading `bytes` at once: 4 KB each, half of that when not consistent. */
export function readUnits(bytes: number, consistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);
}

export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

/** Adds up what a request consumes, by table and index. */
export class Capacity {
  private readonly tables = new Map<
    string,
    { table: number; readonly indexes: Map<string, number>; readonly definition: Table }
  >();

  constructor(
    private readonly detail: CapacityDetail,
    /** Transactions read or write everything twice. */
    private readonly factor: 1 | 2 = 1,
    private readonly kind?: "ReadCapacityUnits" | "WriteCapacityUnits",
  ) {}

  get wanted(): boolean {
    return this.detail === "TOTAL" || this.detail === "INDEXES";
  }

  add(table: Table, units: number, indexName?: string): void {
    if (!this.wanted) return;
    const name = table.name;
    let entry = this.tables.get(name);
    if (!entry) {
      entry = { table: 0, indexes: new Map(), definition: table };
      this.tables.set(name, entry);
    }
    const total = units * this.factor;
    if (indexName === undefined) entry.table += total;
    else entry.indexes.set(indexName, (entry.indexes.get(indexName) ?? 0) + total);
  }

  /** A write's units in the table and in each index whose entry it touches. */
  addWrite(table: Table, found: Found, next: Item | undefined): void {
    if (!this.wanted) return;
    const before = found.stored === undefined ? 0 : storedBytes(found.stored);
    const bytes = Math.max(before, next ? itemBytes(next) : 0);
    this.add(table, writeUnits(bytes));
    for (const index of table.indexes) {
      const oldKey = found.item && indexKey(table, index, found.item);
      const newKey = next && indexKey(table, index, next);
      const moved = oldKey && newKey && !oldKey.equals(newKey);
      if (oldKey ?? newKey) this.add(table, writeUnits(bytes) * (moved ? 2 : 1), index.name);
    }
  }

  /** The ConsumedCapacity of one table, or undefined when it was not asked for. */
  single(): object | undefined {
    return this.all()?.[0];
  }

  all(): object[] | undefined {
    if (!this.wanted) return undefined;
    return [...this.tables.values()].map((entry) => {
      const total = entry.table + [...entry.indexes.values()].reduce((sum, units) => sum + units, 0);
      const base = { TableName: entry.definition.name, ...this.units(total) };
      if (this.detail === "TOTAL") return base;
      return {
        ...base,
        Table: this.units(entry.table),
        ...this.byScope(entry, "local", "LocalSecondaryIndexes"),
        ...this.byScope(entry, "global", "GlobalSecondaryIndexes"),
      };
    });
  }

  private units(units: number): object {
    return { CapacityUnits: units, ...(this.kind ? { [this.kind]: units } : {}) };
  }

  private byScope(entry: { indexes: Map<string, number>; definition: Table }, scope: string, member: string): object {
    const indexes = entry.definition.indexes.filter((index) => index.scope === scope && entry.indexes.has(index.name));
    if (indexes.length === 0) return {};
    return { [member]: Object.fromEntries(indexes.map(({ name }) => [name, this.units(entry.indexes.get(name)!)])) };
  }
}
