import { resourceInUse, resourceNotFound } from "../errors";
import { compose, kind, successor } from "./key-codec";
import type { Draft, Store } from "./store";
import { type Table, type TableDefinition, toDefinition, toTable } from "./table";

/**
 * The tables. They change within a plan, so the following plans see the change, and the store receives the changes in
 * the same order.
 */
export class Catalog {
  private tables = new Map<string, Table>();
  private nextId = 1;

  private constructor(private readonly store: Store) {}

  static async open(store: Store): Promise<Catalog> {
    const catalog = new Catalog(store);
    await catalog.load();
    store.onFailure = () => void catalog.load().catch(() => undefined);
    return catalog;
  }

  async load(): Promise<void> {
    const prefix = compose(kind.table, []);
    const tables = new Map<string, Table>();
    await this.store.scan({ gt: prefix, lt: successor(prefix) }, (value) => {
      const table = toTable(JSON.parse(value) as TableDefinition);
      tables.set(table.name, table);
      return true;
    });
    this.tables = tables;
    this.nextId = Number(this.store.get(prefix) ?? 1);
  }

  names(): string[] {
    return [...this.tables.keys()].sort();
  }

  all(): Iterable<Table> {
    return this.tables.values();
  }

  find(name: string): Table | undefined {
    return this.tables.get(name);
  }

  get(name: string): Table {
    const table = this.tables.get(name);
    if (!table) throw resourceNotFound();
    return table;
  }

  /** Returns a table for operations on tables, whose error message names it. */
  describe(name: string): Table {
    const table = this.tables.get(name);
    if (!table) throw resourceNotFound(`Table: ${name} not found`);
    return table;
  }

  create(draft: Draft, definition: Omit<TableDefinition, "id">): void {
    if (this.tables.has(definition.name)) throw resourceInUse(`Table already exists: ${definition.name}`);
    const table = toTable({ ...definition, id: this.nextId++ });
    draft.put(compose(kind.table, []), String(this.nextId));
    this.put(draft, table);
  }

  replace(draft: Draft, definition: TableDefinition): void {
    this.put(draft, toTable(definition));
  }

  private put(draft: Draft, table: Table): void {
    this.tables.set(table.name, table);
    draft.put(tableKey(table.name), JSON.stringify(toDefinition(table)));
  }
}

function tableKey(name: string): Buffer {
  return compose(kind.table, [], Buffer.from(name));
}
