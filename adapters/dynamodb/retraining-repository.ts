import { type CauseRecord, isOpenCause } from "../../core/retraining/cause";
import type { RetrainingIndex, RetrainingRepository } from "../../core/retraining/ports";
import type { RetrainingRule, RuleState } from "../../core/retraining/rule";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { absent, catalogTable, ex, exists, type Item, type Key, type Table, type Write } from "./table";

const sweptRules = "RETRAINING#RULES";
const openCauses = "RETRAINING#OPEN";

export function createRetrainingRepository(table: Table, team: string): RetrainingRepository {
  const pk = (rule: string): string => `TEAM#${team}#RULE#${rule}`;
  const head = (rule: string) => ({ pk: pk(rule), sk: "RULE" });
  const causeKey = (rule: string, id: string) => ({ pk: pk(rule), sk: `CAUSE#${id}` });

  function pointer(rule: RetrainingRule): Key {
    const { trigger, name } = rule;
    const swept = trigger.type === "drift" ? {} : { gsi1pk: sweptRules, gsi1sk: `${team}#${name}` };
    return {
      pk: `TEAM#${team}#CAUSES#${trigger.type}#${subjectOf(rule)}`,
      sk: `RULE#${name}`,
      team,
      rule: name,
      ...swept,
    };
  }

  return {
    async save(rule, before) {
      const old = before && before.deletedAt === undefined ? pointer(before) : undefined;
      const next = rule.deletedAt === undefined ? pointer(rule) : undefined;
      const listed = next ? ex`, gsi1pk = ${`TEAM#${team}#RULES`}, gsi1sk = ${rule.name}` : ex` REMOVE gsi1pk, gsi1sk`;
      const { revision } = rule;
      return table.tryTransact([
        table.updating(
          head(rule.name),
          ex`SET #record = ${rule}, revision = ${revision}, starts = if_not_exists(starts, ${0})${listed}`,
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

    list: (page) => table.page(ex`gsi1pk = ${`TEAM#${team}#RULES`}`, { ...page, index: "gsi1" }, stateOf),

    async rulesOf(type, subject) {
      const items = await table.all(ex`pk = ${`TEAM#${team}#CAUSES#${type}#${subject}`}`);
      return items.map((item) => item["rule"] as string);
    },

    markScheduled: (name, revision) =>
      table.update(head(name), ex`SET scheduledRevision = ${revision}`, ex`revision = ${revision}`),

    async recordFailure(name, failure) {
      if (await table.update(head(name), ex`SET lastFailure = ${failure}`, exists)) return;
      throw new Error(`the retraining rule ${name} does not exist`);
    },

    async findCause(rule, id) {
      return (await table.get(causeKey(rule, id)))?.["record"] as CauseRecord | undefined;
    },

    listCauses: (rule, page) =>
      table.page(
        ex`gsi1pk = ${`${pk(rule)}#CAUSES`}`,
        { ...page, index: "gsi1", descending: true },
        (item) => item["record"] as CauseRecord,
      ),

    async putCause(record, from, start) {
      const { rule, id, state, heardAt } = record;
      const open = { pk: pk(rule), sk: `OPEN#${id}` };
      return table.tryTransact([
        table.putting(
          { ...causeKey(rule, id), gsi1pk: `${pk(rule)}#CAUSES`, gsi1sk: `${heardAt}#${id}`, state, record },
          from === undefined ? absent : ex`#state = ${from}`,
        ),
        isOpenCause(record)
          ? table.putting({ ...open, gsi1pk: openCauses, gsi1sk: `${heardAt}#${team}#${rule}`, team, rule, id })
          : table.deleting(open),
        ...(start ? [counted(start, record.changedAt)] : []),
      ]);
    },
  };

  function counted({ rule, starts }: RuleState, at: string): Write {
    return table.updating(
      head(rule.name),
      ex`SET starts = ${starts + 1}, lastStartedAt = ${at}`,
      ex`starts = ${starts} AND revision = ${rule.revision}`,
    );
  }
}

export function createRetrainingIndex(table: Table): RetrainingIndex {
  const listed = (list: string) => table.all(ex`gsi1pk = ${list}`, { index: "gsi1" });
  const text = (item: Item, name: string): string => item[name] as string;
  return {
    rules: async () =>
      (await listed(sweptRules)).map((item) => ({ team: text(item, "team"), rule: text(item, "rule") })),
    openCauses: async () =>
      (await listed(openCauses)).map((item) => ({
        team: text(item, "team"),
        rule: text(item, "rule"),
        id: text(item, "id"),
      })),
  };
}

/** Returns the name of the resource that a rule's trigger watches. Schedules have none. */
function subjectOf({ trigger }: RetrainingRule): string {
  if (trigger.type === "dataset") return trigger.dataset;
  return trigger.type === "drift" ? trigger.monitor : "-";
}

function stateOf(item: Item): RuleState {
  const optional = (name: "lastStartedAt" | "scheduledRevision" | "lastFailure") =>
    item[name] === undefined ? {} : { [name]: item[name] };
  return {
    rule: item["record"] as RetrainingRule,
    starts: item["starts"] as number,
    ...optional("lastStartedAt"),
    ...optional("scheduledRevision"),
    ...optional("lastFailure"),
  };
}

export const retrainingIndex = sharedPort({
  uses: { table: catalogTable() },
  grants: { list: [queryIndex("Catalog", "gsi1")] },
  make: ({ table }) => createRetrainingIndex(table),
});

export const retraining = teamPort({
  uses: { table: catalogTable() },
  grants: {
    read: [catalog("GetItem", "Query")],
    write: [catalog("PutItem", "UpdateItem", "DeleteItem")],
  },
  make: ({ table }, { team }) => createRetrainingRepository(table, team),
});
