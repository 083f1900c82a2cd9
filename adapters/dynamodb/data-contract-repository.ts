import type { DataContractRecord, DataContractRepository } from "../../core/datasets/contract/stored";
import { catalog } from "../../platform/permissions/grants";
import { absent, ex, recordOf, type Table, teamCatalogPort } from "./table";

export function createDataContractRepository(table: Table, team: string): DataContractRepository {
  const pk = (dataset: string): string => `TEAM#${team}#DATASET#${dataset}`;
  const keyOf = (dataset: string, revision: number) => ({
    pk: pk(dataset),
    sk: `CONTRACT#${String(revision).padStart(9, "0")}`,
  });
  const revisionsOf = (dataset: string) => ex`pk = ${pk(dataset)} AND begins_with(sk, ${"CONTRACT#"})`;

  return {
    async findCurrent(dataset) {
      const { items } = await table.read(revisionsOf(dataset), { descending: true, limit: 1 });
      return items[0] && recordOf<DataContractRecord>(items[0]);
    },

    find: (dataset, revision) => table.record(keyOf(dataset, revision)),

    list: ({ dataset, ...page }) => table.page(revisionsOf(dataset), { ...page, descending: true }),

    create: (record) => table.put({ ...keyOf(record.dataset, record.revision), record }, absent),
  };
}

export const dataContracts = teamCatalogPort(createDataContractRepository, {
  current: [catalog("Query")],
  read: [catalog("GetItem", "Query")],
  write: [catalog("PutItem")],
});
