import type { DueDeliveries, NotificationRepository } from "../../core/notifications/ports";
import type { Delivery } from "../../core/notifications/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { absent, catalogPort, ex, recordOf, type Table, teamCatalogPort } from "./table";

const dueKey = "NOTIFICATIONS#DUE";
/** The time that a delivery is stored after its event. */
const keptSeconds = 30 * 86_400;
/** The maximum number of deliveries in one sweep. The next sweep takes the rest. */
const maxDue = 200;
const pending = ex`#record.#status = ${"pending"}`;

export function createNotificationRepository(table: Table, team: string): NotificationRepository {
  const pk = `TEAM#${team}#NOTIFICATIONS`;
  const settingsKey = { pk, sk: "SETTINGS" };
  const keyOf = ({ at, id, channel }: Delivery) => ({ pk, sk: `DELIVERY#${at}#${id}#${channel}` });
  const dueOf = ({ dueAt, id, channel }: Delivery) =>
    dueAt === undefined ? {} : { gsi1pk: dueKey, gsi1sk: `${dueAt}#${team}#${id}#${channel}` };
  const rowOf = (record: Delivery) => ({
    ...keyOf(record),
    ...dueOf(record),
    team,
    record,
    expiresAt: Math.floor(Date.parse(record.at) / 1_000) + keptSeconds,
  });

  return {
    findSettings: () => table.record(settingsKey),

    async putSettings(record) {
      await table.put({ ...settingsKey, record });
    },

    create: (delivery) => table.put(rowOf(delivery), absent),

    claim: (delivery, dueAt) =>
      table.update(
        keyOf(delivery),
        ex`SET #record.dueAt = ${dueAt}, gsi1sk = ${dueOf({ ...delivery, dueAt }).gsi1sk}`,
        ex`${pending} AND #record.dueAt = ${delivery.dueAt}`,
      ),

    async record(delivery) {
      await table.put(rowOf(delivery), pending);
    },

    list: (page) => table.page(ex`pk = ${pk} AND begins_with(sk, ${"DELIVERY#"})`, { ...page, descending: true }),
  };
}

export function createDueDeliveries(table: Table): DueDeliveries {
  return {
    async list(before) {
      const due = ex`gsi1pk = ${dueKey} AND gsi1sk < ${before}`;
      const { items } = await table.read(due, { index: "gsi1", limit: maxDue });
      return items.map((item) => ({ team: item["team"] as string, delivery: recordOf<Delivery>(item) }));
    },
  };
}

export const dueDeliveries = catalogPort(createDueDeliveries, { list: [queryIndex("Catalog", "gsi1")] });

export const notifications = teamCatalogPort(createNotificationRepository, {
  read: [catalog("GetItem")],
  list: [catalog("Query")],
  deliver: [catalog("PutItem", "UpdateItem")],
  configure: [catalog("PutItem")],
});
