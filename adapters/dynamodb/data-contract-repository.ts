import type { DataContractRecord, DataContractRepository } from "../../core/datasets/contract/stored";
import { catalog } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { absent, catalogTable, ex, type Item, type Table } from "./table";

/** Stores the contracts of a team's datasets in the Catalog table (docs/access-patterns.md, "Datasets"). */
export function createDataContractRepository(table: Table, team: string): DataContractRepository {
  const pk = (dataset: string): string => `TEAM#${team}#DATASET#${dataset}`;
  const keyOf = (dataset: string, revision: number) => ({
    pk: pk(dataset),
    sk: `CONTRACT#${String(revision).padStart(9, "0")}`,
  });
  const revisionsOf = (dataset: string) => ex`pk = ${pk(dataset)} AND begins_with(sk, ${"CONTRACT#"})`;
  const recordOf = (item: Item) => item["record"] as DataContractRecord;

  return {
    async findCurrent(dataset) {
      const { items } = await table.read(revisionsOf(dataset), { descending: true, limit: 1 });
      return items[0] && recordOf(items[0]);
    },

    async find(dataset, revision) {
      const item = await table.get(keyOf(dataset, revision));
      return item && recordOf(item);
    },

    list: ({ dataset, ...page }) => table.page(revisionsOf(dataset), { ...page, descending: true }, recordOf),

    create: (record) => table.put({ ...keyOf(record.dataset, record.revision), record }, absent),
  };
}

export const dataContracts = teamPort({
  uses: { table: catalogTable() },
  grants: { current: [catalog("Query")], read: [catalog("GetItem", "Query")], write: [catalog("PutItem")] },
  make: ({ table }, { team }) => createDataContractRepository(table, team),
});
