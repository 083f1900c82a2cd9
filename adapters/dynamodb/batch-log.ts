import { inRounds } from "../../core/backoff";
import { viewBusy } from "../../core/feature-store/errors";
import type { BatchLog, RowsKey } from "../../core/feature-store/ports";
import type { Batch, Position, RowsState } from "../../core/feature-store/shapes";
import { catalog } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { pauseBeforeRound } from "./client";
import { absent, catalogTable, ex, type Item, type Table } from "./table";

const rounds = 24;

/** Stores the batches of feature views in the Catalog table (docs/access-patterns.md, "Feature store"). */
export function createBatchLog(table: Table, team: string): BatchLog {
  const pk = ({ name, generation }: RowsKey): string => `TEAM#${team}#VIEWROWS#${generation}#${name}`;
  const head = (rows: RowsKey) => ({ pk: pk(rows), sk: "HEAD" });
  const batchKey = (sequence: number): string => `BATCH#${String(sequence).padStart(12, "0")}`;
  const batchOf = (item: Item) => item["record"] as Batch;

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
    const item = pointer && (await table.get({ pk: pk(rows), sk: batchKey(pointer["sequence"] as number) }));
    return item && batchOf(item);
  }

  return {
    state,

    append: (rows, given) =>
      inRounds({ rounds, pause: pauseBeforeRound, busy: () => viewBusy(rows.name) }, async () => {
        const known = await find(rows, given.digest);
        if (known) return { created: false, batch: known };
        const { batches, rows: total } = await state(rows);
        const batch: Batch = { sequence: batches + 1, ...given };
        const appended = await table.tryTransact([
          table.updating(
            head(rows),
            ex`SET batches = ${batch.sequence}, #total = ${total + given.rows}`,
            batches === 0 ? absent : ex`batches = ${batches}`,
          ),
          table.putting({ pk: pk(rows), sk: batchKey(batch.sequence), record: batch }, absent),
          table.putting({ pk: pk(rows), sk: `DIGEST#${given.digest}`, sequence: batch.sequence }, absent),
        ]);
        return appended ? { created: true, batch } : undefined;
      }),

    list: (rows, { after, ...page }) =>
      table.page(
        ex`pk = ${pk(rows)} AND sk BETWEEN ${batchKey(after + 1)} AND ${batchKey(999_999_999_999)}`,
        page,
        batchOf,
      ),

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

export const featureBatches = teamPort({
  uses: { table: catalogTable() },
  grants: {
    read: [catalog("GetItem")],
    list: [catalog("Query")],
    write: [catalog("PutItem", "UpdateItem")],
  },
  make: ({ table }, { team }) => createBatchLog(table, team),
});
