import type { InboxRepository } from "../../core/datasets/inbox/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { absent, ex, type Table, teamCatalogPort } from "./table";

export function createInboxRepository(table: Table, team: string): InboxRepository {
  const pk = `TEAM#${team}#INBOX`;

  return {
    find: (id) => table.record({ pk, sk: `FILE#${id}` }),

    save(record, before) {
      const { id, putAt, dataset } = record;
      return table.put(
        { pk, sk: `FILE#${id}`, gsi1pk: pk, gsi1sk: `${putAt}#${id}`, dataset, record },
        before
          ? ex`#record.#status = ${before.status} AND #record.tries = ${before.tries}
              AND #record.sequencer = ${before.sequencer}`
          : absent,
      );
    },

    list({ dataset, ...page }) {
      const filter = dataset === undefined ? undefined : ex`dataset = ${dataset}`;
      return table.page(ex`gsi1pk = ${pk}`, { ...page, index: "gsi1", filter, descending: true });
    },
  };
}

export const inbox = teamCatalogPort(createInboxRepository, {
  read: [catalog("GetItem")],
  list: [queryIndex("Catalog", "gsi1")],
  write: [catalog("PutItem")],
});
