import { encodeItem, storedBytes } from "../store/stored-item";
import type { Table } from "../store/table";
import { entryOf, type Found } from "../store/write-item";
import type { Item } from "../value/attribute-value";
import type { Fields } from "../wire/fields";

export type CapacityDetail = "INDEXES" | "TOTAL" | "NONE" | undefined;

export function readCapacityDetail(fields: Fields): CapacityDetail {
  return fields.choice("ReturnConsumedCapacity", ["INDEXES", "TOTAL", "NONE"]);
}

/** Returns the units for reading `bytes` at once: one per 4 KB, and half of that for an eventually consistent read. */
export function readUnits(bytes: number, consistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);
}

/** Returns the units for writing: one per KB. */
function unitsOf(stored: string | undefined): number {
  return stored === undefined ? 1 : Math.max(1, Math.ceil(storedBytes(stored) / 1024));
}

/** Adds up the capacity that a request consumes, by table and index. */
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
    if (!this.wanted || units === 0) return;
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

  /**
   * Adds a write's units in the table and in each index. An entry that moves counts twice, and an unchanged entry does
   * not count.
   */
  addWrite(table: Table, found: Found, next: Item | undefined): void {
    if (!this.wanted) return;
    const stored = next && encodeItem(next);
    this.add(table, Math.max(unitsOf(found.stored), unitsOf(stored)));
    for (const index of table.indexes) {
      const before = entryOf(table, index, found.item, found.stored);
      const now = entryOf(table, index, next, stored);
      const stays = before && now && before.key.equals(now.key);
      if (!stays) this.add(table, (before ? unitsOf(before.stored) : 0) + (now ? unitsOf(now.stored) : 0), index.name);
      else if (before.stored !== now.stored) {
        this.add(table, Math.max(unitsOf(before.stored), unitsOf(now.stored)), index.name);
      }
    }
  }

  /** Returns the ConsumedCapacity of one table, or undefined if it was not requested. */
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
