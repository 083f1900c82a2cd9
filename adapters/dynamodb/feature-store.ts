import { inRounds } from "../../core/backoff";
import { BoundedMap } from "../../core/bounded-map";
import { sha256 } from "../../core/digest";
import { eachLimited } from "../../core/each-limited";
import { viewBusy } from "../../core/feature-store/errors";
import { timeOrder } from "../../core/feature-store/online";
import type { BatchLog, LatestRow, OnlineStore, RowsKey, ViewRepository } from "../../core/feature-store/ports";
import type { Batch, Position, RowsState, ViewSummary, ViewVersion } from "../../core/feature-store/shapes";
import type { WindowRow } from "../../core/feature-store/windows";
import type { Clock } from "../../core/ports";
import { catalog, table as grant, queryIndex } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { documents, pauseBeforeRound } from "./client";
import { absent, ex, type Item, type Key, Table, teamCatalogPort } from "./table";

/** The maximum age of a version that `findRecent` returns. */
const maxAgeMs = 5_000;
const maxCached = 500;

export function createViewRepository(table: Table, team: string, clock: Clock): ViewRepository {
  const pk = (name: string): string => `TEAM#${team}#VIEW#${name}`;
  const versionKey = (name: string, version: number) => ({
    pk: pk(name),
    sk: `VERSION#${String(version).padStart(9, "0")}`,
  });
  const listed = `TEAM#${team}#VIEWS`;

  // A version never changes.
  const versions = new BoundedMap<string, ViewVersion>(maxCached);
  const recent = new BoundedMap<string, { readonly at: number; readonly version: ViewVersion }>(maxCached);

  async function find(name: string, number: number): Promise<ViewVersion | undefined> {
    const key = `${name}@${number}`;
    const cachedVersion = versions.get(key);
    if (cachedVersion) return cachedVersion;
    const version = await table.record<ViewVersion>(versionKey(name, number));
    if (version) versions.set(key, version);
    return version;
  }

  async function findNewest(name: string): Promise<ViewVersion | undefined> {
    const head = await table.get({ pk: pk(name), sk: "HEAD" });
    return head && find(name, head["latest"] as number);
  }

  return {
    find,

    async findByDigest(name, digest) {
      const pointer = await table.get({ pk: pk(name), sk: `DIGEST#${digest}` });
      return pointer && find(name, pointer["version"] as number);
    },

    findNewest,

    async findRecent(name) {
      const entry = recent.get(name);
      if (entry && clock.now() - entry.at < maxAgeMs) return entry.version;
      const version = await findNewest(name);
      if (version) recent.set(name, { at: clock.now(), version });
      return version;
    },

    register(version) {
      const { name, digest, definition, features, createdAt } = version;
      const { owner, description, entities } = definition;
      const summary: ViewSummary = {
        ...{ name, latestVersion: version.version, owner, description, entities },
        ...{ features: features.map((one) => one.name), updatedAt: createdAt },
      };
      const head = { pk: pk(name), sk: "HEAD", gsi1pk: listed, gsi1sk: name, latest: version.version, record: summary };
      return table.tryTransact([
        table.putting({ ...versionKey(name, version.version), record: version }, absent),
        table.putting({ pk: pk(name), sk: `DIGEST#${digest}`, version: version.version }, absent),
        table.putting(head, version.version === 1 ? absent : ex`latest = ${version.version - 1}`),
      ]);
    },

    list: (page) => table.page(ex`gsi1pk = ${listed}`, { ...page, index: "gsi1" }),

    listVersions(name, page) {
      const versionsOf = ex`pk = ${pk(name)} AND begins_with(sk, ${"VERSION#"})`;
      return table.page(versionsOf, { ...page, descending: true, consistent: false });
    },
  };
}

export const featureViews = teamCatalogPort(createViewRepository, {
  read: [catalog("GetItem")],
  list: [catalog("Query"), queryIndex("Catalog", "gsi1")],
  register: [catalog("PutItem")],
});

const rounds = 24;

function createBatchLog(table: Table, team: string): BatchLog {
  const pk = ({ name, generation }: RowsKey): string => `TEAM#${team}#VIEWROWS#${generation}#${name}`;
  const head = (rows: RowsKey) => ({ pk: pk(rows), sk: "HEAD" });
  const batchKey = (sequence: number): string => `BATCH#${String(sequence).padStart(12, "0")}`;

  async function state(rows: RowsKey): Promise<RowsState> {
    const item = await table.get(head(rows));
    return {
      batches: Number(item?.["batches"] ?? 0),
      rows: Number(item?.["total"] ?? 0),
      online: (item?.["online"] as Position | undefined) ?? { batch: 0, files: 0 },
    };
  }

  async function find(rows: RowsKey, digest: string): Promise<Batch | undefined> {
    const pointer = await table.get({ pk: pk(rows), sk: `DIGEST#${digest}` });
    return pointer && table.record({ pk: pk(rows), sk: batchKey(pointer["sequence"] as number) });
  }

  return {
    state,

    append: (rows, draft) =>
      inRounds({ rounds, pause: pauseBeforeRound, busy: () => viewBusy(rows.name) }, async () => {
        const earlierBatch = await find(rows, draft.digest);
        if (earlierBatch) return { created: false, batch: earlierBatch };
        const { batches, rows: total } = await state(rows);
        const batch: Batch = { sequence: batches + 1, ...draft };
        const appended = await table.tryTransact([
          table.updating(
            head(rows),
            ex`SET batches = ${batch.sequence}, #total = ${total + draft.rows}`,
            batches === 0 ? absent : ex`batches = ${batches}`,
          ),
          table.putting({ pk: pk(rows), sk: batchKey(batch.sequence), record: batch }, absent),
          table.putting({ pk: pk(rows), sk: `DIGEST#${draft.digest}`, sequence: batch.sequence }, absent),
        ]);
        return appended ? { created: true, batch } : undefined;
      }),

    list: (rows, { after, ...page }) =>
      table.page(ex`pk = ${pk(rows)} AND sk BETWEEN ${batchKey(after + 1)} AND ${batchKey(999_999_999_999)}`, page),

    advance: (rows, from, to) =>
      table.update(
        head(rows),
        ex`SET #online = ${to}`,
        from.batch === 0 && from.files === 0
          ? ex`attribute_not_exists(#online) OR #online = ${from}`
          : ex`#online = ${from}`,
      ),
  };
}

export const featureBatches = teamCatalogPort(createBatchLog, {
  read: [catalog("GetItem")],
  list: [catalog("Query")],
  write: [catalog("PutItem", "UpdateItem")],
});

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

    get: (rows, keys) =>
      Promise.all(
        keys.map(async (key) => {
          const item = await reads.get(keyOf(rows, key));
          return item && rowOf(item);
        }),
      ),

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
      const windowRows: WindowRow[] = [];
      let nextToken: string | undefined;
      do {
        const options = { descending: true, limit: limit - windowRows.length, nextToken };
        const page = await table.page(where, options, rowOf);
        windowRows.push(...page.items);
        nextToken = page.nextToken;
      } while (nextToken !== undefined && windowRows.length < limit);
      return windowRows;
    },
  };
}

const rowOf = (item: Item): LatestRow & WindowRow => ({
  key: item["key"] as string,
  order: item["rank"] as string,
  eventTime: item["eventTime"] as number,
  values: JSON.parse(item["content"] as string),
});

const maxKeys = 100;

interface WaitingRead {
  readonly key: Key;
  readonly settle: (item: Item | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Sends reads that arrive in one turn of the event loop, or during a request, together in the next request. */
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
      const items = new Map((await this.table.batchGet([...keys.values()])).map((item) => [item["pk"], item]));
      for (const { key, settle } of group) settle(items.get(key.pk));
    } catch (error) {
      for (const { fail } of group) fail(error);
    }
    this.busy = this.waiting.length > 0;
    if (this.busy) setImmediate(() => void this.pump());
  }
}

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
