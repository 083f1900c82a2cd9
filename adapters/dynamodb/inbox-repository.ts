import type { InboxReport, InboxRepository } from "../../core/datasets/inbox/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { absent, catalogTable, ex, type Item, type Table } from "./table";

/** Stores the reports of a team's inbox in the Catalog table (docs/access-patterns.md, "Inboxes"). */
export function createInboxRepository(table: Table, team: string): InboxRepository {
  const pk = `TEAM#${team}#INBOX`;
  const reportOf = (item: Item): InboxReport => item["report"] as InboxReport;

  return {
    async find(id) {
      const item = await table.get({ pk, sk: `FILE#${id}` });
      return item && reportOf(item);
    },

    save(report, before) {
      const { id, putAt, dataset } = report;
      return table.put(
        { pk, sk: `FILE#${id}`, gsi1pk: pk, gsi1sk: `${putAt}#${id}`, dataset, report },
        before
          ? ex`#report.#status = ${before.status} AND #report.tries = ${before.tries}
              AND #report.sequencer = ${before.sequencer}`
          : absent,
      );
    },

    list({ dataset, ...page }) {
      const filter = dataset === undefined ? undefined : ex`dataset = ${dataset}`;
      return table.page(ex`gsi1pk = ${pk}`, { ...page, index: "gsi1", filter, descending: true }, reportOf);
    },
  };
}

export const inbox = teamPort({
  uses: { table: catalogTable() },
  grants: {
    read: [catalog("GetItem")],
    list: [queryIndex("Catalog", "gsi1")],
    write: [catalog("PutItem")],
  },
  make: ({ table }, { team }) => createInboxRepository(table, team),
});
