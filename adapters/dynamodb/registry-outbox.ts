import type { HistoryEntry } from "../../core/registry/model";
import type { OutboxIndex } from "../../core/registry/outbox";
import { queryIndex } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { outboxIndexKey } from "./model-repository";
import { catalogTable, ex, type Table } from "./table";

/** The maximum number of events in one sweep. The next sweep takes the rest. */
const maxEvents = 500;

/** Finds the unpublished events of all teams, the oldest first. Eventually consistent. */
export function createOutboxIndex(table: Table): OutboxIndex {
  return {
    async list(before) {
      const unpublished = ex`gsi1pk = ${outboxIndexKey} AND gsi1sk < ${before}`;
      const { items } = await table.read(unpublished, { index: "gsi1", limit: maxEvents });
      return items.map((item) => ({
        team: item["team"] as string,
        model: item["model"] as string,
        revision: (item["record"] as HistoryEntry).revision,
      }));
    },
  };
}

export const outboxIndex = sharedPort({
  uses: { table: catalogTable() },
  grants: { list: [queryIndex("Catalog", "gsi1")] },
  make: ({ table }) => createOutboxIndex(table),
});
