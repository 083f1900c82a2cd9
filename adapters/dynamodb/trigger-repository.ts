import { byTime, type CauseRecord, isOpenCause } from "../../core/triggers/cause";
import type { TriggerIndex, TriggerRepository } from "../../core/triggers/ports";
import type { Trigger, TriggerState } from "../../core/triggers/trigger";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { absent, catalogTable, ex, exists, type Item, type Key, type Table, type Write } from "./table";

const sweptTriggers = "TRIGGERS#SWEPT";
const openCauses = "TRIGGERS#OPEN";

export function createTriggerRepository(table: Table, team: string): TriggerRepository {
  const pk = (trigger: string): string => `TEAM#${team}#TRIGGER#${trigger}`;
  const head = (trigger: string) => ({ pk: pk(trigger), sk: "TRIGGER" });
  const causeKey = (trigger: string, id: string) => ({ pk: pk(trigger), sk: `CAUSE#${id}` });

  function pointer(trigger: Trigger): Key {
    const { on, name } = trigger;
    const swept =
      on.type === "dataset" || on.type === "schedule" ? { gsi1pk: sweptTriggers, gsi1sk: `${team}#${name}` } : {};
    return {
      pk: `TEAM#${team}#CAUSES#${on.type}#${subjectOf(trigger)}`,
      sk: `TRIGGER#${name}`,
      team,
      trigger: name,
      ...swept,
    };
  }

  return {
    async save(trigger, before, secret) {
      const old = before && before.deletedAt === undefined ? pointer(before) : undefined;
      const next = trigger.deletedAt === undefined ? pointer(trigger) : undefined;
      const listed = next
        ? ex`, gsi1pk = ${`TEAM#${team}#TRIGGERS`}, gsi1sk = ${trigger.name}`
        : ex` REMOVE gsi1pk, gsi1sk`;
      const secretSet = secret === undefined ? ex`` : ex`, secret = ${secret}`;
      const { revision } = trigger;
      return table.tryTransact([
        table.updating(
          head(trigger.name),
          ex`SET #record = ${trigger}, revision = ${revision}, starts = if_not_exists(starts, ${0})${secretSet}${listed}`,
          before ? ex`revision = ${before.revision}` : absent,
        ),
        ...(old && old.pk !== next?.pk ? [table.deleting(old)] : []),
        ...(next ? [table.putting(next)] : []),
      ]);
    },

    async find(name) {
      const item = await table.get(head(name));
      return item && stateOf(item);
    },

    async findSecret(name) {
      return (await table.get(head(name)))?.["secret"] as string | undefined;
    },

    list: (page) => table.page(ex`gsi1pk = ${`TEAM#${team}#TRIGGERS`}`, { ...page, index: "gsi1" }, stateOf),

    async triggersOn(type, subject) {
      const items = await table.all(ex`pk = ${`TEAM#${team}#CAUSES#${type}#${subject}`}`);
      return items.map((item) => item["trigger"] as string);
    },

    markScheduled: (name, revision) =>
      table.update(head(name), ex`SET scheduledRevision = ${revision}`, ex`revision = ${revision}`),

    async recordFailure(name, failure) {
      if (await table.update(head(name), ex`SET lastFailure = ${failure}`, exists)) return;
      throw new Error(`the trigger ${name} does not exist`);
    },

    async findCause(trigger, id) {
      return (await table.get(causeKey(trigger, id)))?.["record"] as CauseRecord | undefined;
    },

    listCauses: (trigger, page) =>
      table.page(
        ex`gsi1pk = ${`${pk(trigger)}#CAUSES`}`,
        { ...page, index: "gsi1", descending: true },
        (item) => item["record"] as CauseRecord,
      ),

    async openCauses(trigger) {
      const records = await table.records<CauseRecord>(ex`pk = ${pk(trigger)} AND begins_with(sk, ${"OPEN#"})`);
      return [...records].sort(byTime);
    },

    async putCause(record, from, start) {
      const { trigger, id, state, heardAt, cause } = record;
      const open = { pk: pk(trigger), sk: `OPEN#${id}` };
      return table.tryTransact([
        table.putting(
          { ...causeKey(trigger, id), gsi1pk: `${pk(trigger)}#CAUSES`, gsi1sk: `${heardAt}#${id}`, state, record },
          from === undefined ? absent : ex`#state = ${from}`,
        ),
        isOpenCause(record)
          ? table.putting({
              ...open,
              gsi1pk: openCauses,
              gsi1sk: `${cause.at}#${team}#${trigger}`,
              team,
              trigger,
              id,
              record,
            })
          : table.deleting(open),
        ...(start ? [counted(start, record.changedAt)] : []),
      ]);
    },
  };

  function counted({ trigger, starts, open = [] }: TriggerState, at: string): Write {
    return table.updating(
      head(trigger.name),
      ex`SET starts = ${starts + 1}, lastStartedAt = ${at}, openCauses = ${open}`,
      ex`starts = ${starts} AND revision = ${trigger.revision}`,
    );
  }
}

export function createTriggerIndex(table: Table): TriggerIndex {
  const listed = (list: string) => table.all(ex`gsi1pk = ${list}`, { index: "gsi1" });
  const text = (item: Item, name: string): string => item[name] as string;
  return {
    triggers: async () =>
      (await listed(sweptTriggers)).map((item) => ({ team: text(item, "team"), trigger: text(item, "trigger") })),
    openCauses: async () =>
      (await listed(openCauses)).map((item) => ({
        team: text(item, "team"),
        trigger: text(item, "trigger"),
        id: text(item, "id"),
      })),
  };
}

/** Returns the name of the resource that a trigger watches. Schedules and webhooks have none. */
function subjectOf({ on }: Trigger): string {
  if (on.type === "dataset") return on.dataset;
  if (on.type === "model") return on.model;
  if (on.type === "pipeline") return on.pipeline;
  return on.type === "drift" ? on.monitor : "-";
}

function stateOf(item: Item): TriggerState {
  const optional = (name: "lastStartedAt" | "scheduledRevision" | "lastFailure") =>
    item[name] === undefined ? {} : { [name]: item[name] };
  return {
    trigger: item["record"] as Trigger,
    starts: item["starts"] as number,
    ...(item["openCauses"] === undefined ? {} : { open: item["openCauses"] as string[] }),
    ...optional("lastStartedAt"),
    ...optional("scheduledRevision"),
    ...optional("lastFailure"),
  };
}

export const triggerIndex = sharedPort({
  uses: { table: catalogTable() },
  grants: { list: [queryIndex("Catalog", "gsi1")] },
  make: ({ table }) => createTriggerIndex(table),
});

export const triggers = teamPort({
  uses: { table: catalogTable() },
  grants: {
    read: [catalog("GetItem", "Query")],
    write: [catalog("PutItem", "UpdateItem", "DeleteItem")],
  },
  make: ({ table }, { team }) => createTriggerRepository(table, team),
});
