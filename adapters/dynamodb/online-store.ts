import { sha256 } from "../../core/digest";
import { eachLimited } from "../../core/each-limited";
import { timeOrder } from "../../core/feature-store/online";
import type { LatestRow, OnlineStore, RowsKey } from "../../core/feature-store/ports";
import type { WindowRow } from "../../core/feature-store/windows";
import { table as grant } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { documents } from "./client";
import { ex, type Item, type Key, Table } from "./table";

const writesAtOnce = 32;

/** Deletion by DynamoDB may come this much before the time that a clock of ours shows. */
const reserveMs = 86_400_000;

/** Stores the latest row of each entity, and rows for windows, in the Features table (docs/access-patterns.md, "Feature store"). */
export function createOnlineStore(table: Table, team: string): OnlineStore {
  // The digest has a fixed length, whatever the values of an entity are, and spreads entities over partitions.
  const keyOf = ({ name, generation }: RowsKey, key: string) => ({
    pk: `TEAM#${team}#${generation}#${name}#${sha256(key)}`,
    sk: "LATEST",
  });
  const rowKey = (order: string) => `ROW#${order}`;

  const reads = new GroupedReads(table);

  return {
    put: (rows, latest) =>
      eachLimited(latest, writesAtOnce, ({ key, order, eventTime, values }) =>
        table.put(
          // One attribute of text is smaller than a map of typed values, and faster to read.
          { ...keyOf(rows, key), key, rank: order, eventTime, content: JSON.stringify(values) },
          ex`attribute_not_exists(pk) OR #rank < ${order}`,
        ),
      ),

    get: (rows, keys) => Promise.all(keys.map(async (key) => rowOf(await reads.get(keyOf(rows, key))))),

    putWindowRows: (rows, windowRows, keptMs) =>
      table.batchWrite(
        windowRows.map(({ key, order, eventTime, values }) => ({
          ...{ pk: keyOf(rows, key).pk, sk: rowKey(order), key, rank: order, eventTime },
          ...{ content: JSON.stringify(values), expiresAt: Math.ceil((eventTime + keptMs + reserveMs) / 1_000) },
        })),
      ),

    async getWindowRows(rows, key, since, limit) {
      const { pk } = keyOf(rows, key);
      const where = ex`pk = ${pk} AND sk BETWEEN ${rowKey(timeOrder(since))} AND ${rowKey("~")}`;
      const found: WindowRow[] = [];
      let nextToken: string | undefined;
      do {
        const options = { descending: true, limit: limit - found.length, nextToken };
        const page = await table.page(where, options, windowRowOf);
        found.push(...page.items);
        nextToken = page.nextToken;
      } while (nextToken !== undefined && found.length < limit);
      return found;
    },
  };
}

function rowOf(item: Item | undefined): LatestRow | undefined {
  if (!item) return undefined;
  return {
    key: item["key"] as string,
    order: item["rank"] as string,
    eventTime: item["eventTime"] as number,
    values: JSON.parse(item["content"] as string) as LatestRow["values"],
  };
}

function windowRowOf(item: Item): WindowRow {
  return {
    key: item["key"] as string,
    order: item["rank"] as string,
    eventTime: item["eventTime"] as number,
    values: JSON.parse(item["content"] as string) as WindowRow["values"],
  };
}

/** Keys of one request to DynamoDB. */
const maxKeys = 100;

interface WaitingRead {
  readonly key: Key;
  readonly settle: (item: Item | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Reads items. Reads that arrive in the same turn of the event loop, or while a request is in progress, are sent
 * together in the next one: with several callers at a time, requests take most of the time. A read alone is a request
 * of its own.
 */
class GroupedReads {
  private waiting: WaitingRead[] = [];
  private busy = false;

  constructor(private readonly table: Table) {}

  get(key: Key): Promise<Item | undefined> {
    return new Promise((settle, fail) => {
      this.waiting.push({ key, settle, fail });
      if (this.busy) return;
      this.busy = true;
      setImmediate(() => void this.pump());
    });
  }

  private async pump(): Promise<void> {
    const group = this.waiting.splice(0, maxKeys);
    try {
      const keys = new Map(group.map(({ key }) => [key.pk, key]));
      const found = new Map((await this.table.batchGet([...keys.values()])).map((item) => [item["pk"], item]));
      for (const { key, settle } of group) settle(found.get(key.pk));
    } catch (error) {
      for (const { fail } of group) fail(error);
    }
    this.busy = this.waiting.length > 0;
    if (this.busy) setImmediate(() => void this.pump());
  }
}

/** The table Features. */
const featuresTable = sharedPort({
  uses: { documents: documents() },
  make: ({ documents }, { config }) => new Table(documents, config.tables.features),
});

export const onlineFeatures = teamPort({
  uses: { table: featuresTable() },
  grants: {
    read: [grant("Features", "BatchGetItem"), grant("Features", "Query")],
    write: [grant("Features", "PutItem"), grant("Features", "BatchWriteItem")],
  },
  make: ({ table }, { team }) => createOnlineStore(table, team),
});
