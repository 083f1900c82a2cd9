import type { MonitorIndex, MonitorRepository } from "../../core/monitors/ports";
import type { Monitor, MonitorWindow } from "../../core/monitors/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { absent, catalogPort, ex, exists, type Key, type Table, teamCatalogPort, type Write } from "./table";

const sweptMonitors = "MONITORS#SWEEP";
const unpublishedWindows = "MONITORS#UNPUBLISHED";

export function createMonitorRepository(table: Table, team: string): MonitorRepository {
  const pk = (name: string): string => `TEAM#${team}#MONITOR#${name}`;
  const head = (name: string) => ({ pk: pk(name), sk: "MONITOR" });
  const windowKey = (name: string, window: number) => ({
    pk: pk(name),
    sk: `WINDOW#${String(window).padStart(9, "0")}`,
  });
  const subjectOf = ({ target }: Monitor): string =>
    target.type === "model" ? `model#${target.model}` : `dataset#${target.dataset}`;

  function pointer(monitor: Monitor): Key {
    const { name } = monitor;
    return {
      ...{ pk: `TEAM#${team}#MONITORED#${subjectOf(monitor)}`, sk: `MONITOR#${name}`, team, monitor: name },
      ...{ gsi1pk: sweptMonitors, gsi1sk: `${team}#${name}` },
    };
  }

  function headWrite(monitor: Monitor, before: Monitor | undefined): Write {
    const { name, revision, deletedAt } = monitor;
    const listed = deletedAt === undefined ? { gsi1pk: `TEAM#${team}#MONITORS`, gsi1sk: name } : {};
    return table.putting(
      { ...head(name), ...listed, revision, record: monitor },
      before ? ex`revision = ${before.revision}` : absent,
    );
  }

  const find = (name: string) => table.record<Monitor>(head(name));
  const windowOf = (item: Readonly<Record<string, unknown>>): MonitorWindow => ({
    ...(item["record"] as MonitorWindow),
    published: item["gsi1pk"] === undefined,
  });

  return {
    find,

    async save(monitor, before) {
      const old = before && before.deletedAt === undefined ? pointer(before) : undefined;
      const next = monitor.deletedAt === undefined ? pointer(monitor) : undefined;
      return table.tryTransact([
        headWrite(monitor, before),
        ...(old && old.pk !== next?.pk ? [table.deleting(old)] : []),
        ...(next ? [table.putting(next)] : []),
      ]);
    },

    list: (page) => table.page(ex`gsi1pk = ${`TEAM#${team}#MONITORS`}`, { ...page, index: "gsi1" }),

    async ofModel(model) {
      const items = await table.all(ex`pk = ${`TEAM#${team}#MONITORED#model#${model}`}`);
      const monitors = await Promise.all(items.map((item) => find(item["monitor"] as string)));
      return monitors.flatMap((one) => (one && one.deletedAt === undefined ? [one] : []));
    },

    closeWindow(monitor, before, window) {
      const { published, ...record } = window;
      const listed = published
        ? {}
        : { gsi1pk: unpublishedWindows, gsi1sk: `${window.end}#${team}#${monitor.name}`, team, monitor: monitor.name };
      return table.tryTransact([
        headWrite(monitor, before),
        table.putting({ ...windowKey(monitor.name, window.window), ...listed, record }, absent),
      ]);
    },

    async markPublished(name, window) {
      await table.update(windowKey(name, window), ex`REMOVE gsi1pk, gsi1sk`, exists);
    },

    async findWindow(name, window) {
      const item = await table.get(windowKey(name, window));
      return item && windowOf(item);
    },

    listWindows: (name, page) =>
      table.page(ex`pk = ${pk(name)} AND begins_with(sk, ${"WINDOW#"})`, { ...page, descending: true }, windowOf),
  };
}

export function createMonitorIndex(table: Table): MonitorIndex {
  const listed = (list: string) => table.all(ex`gsi1pk = ${list}`, { index: "gsi1" });
  return {
    monitors: async () =>
      (await listed(sweptMonitors)).map((item) => ({
        team: item["team"] as string,
        monitor: item["monitor"] as string,
      })),
    unpublished: async () =>
      (await listed(unpublishedWindows)).map((item) => ({
        team: item["team"] as string,
        monitor: item["monitor"] as string,
        window: (item["record"] as MonitorWindow).window,
      })),
  };
}

export const monitorIndex = catalogPort(createMonitorIndex, { list: [queryIndex("Catalog", "gsi1")] });

export const monitors = teamCatalogPort(createMonitorRepository, {
  read: [catalog("GetItem", "Query")],
  list: [queryIndex("Catalog", "gsi1")],
  write: [catalog("PutItem", "UpdateItem")],
  delete: [catalog("DeleteItem")],
});
