import { sha256 } from "../../core/digest";
import { eachLimited } from "../../core/each-limited";
import type { LatestRow, OnlineStore, RowsKey } from "../../core/feature-store/ports";
import { table as grant } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { documents } from "./client";
import { ex } from "./expression";
import { type Item, Table } from "./table";

const writesAtOnce = 32;

/** Stores the latest row of each entity in the Features table (docs/access-patterns.md, "Feature store"). */
export function createOnlineStore(table: Table, team: string): OnlineStore {
  // The digest has a fixed length, whatever the values of an entity are, and spreads entities over partitions.
  const keyOf = ({ name, generation }: RowsKey, key: string) => ({
    pk: `TEAM#${team}#${generation}#${name}#${sha256(key)}`,
    sk: "LATEST",
  });

  return {
    put: (rows, latest) =>
      eachLimited(latest, writesAtOnce, ({ key, order, eventTime, values }) =>
        table.put(
          // One attribute of text is smaller than a map of typed values, and faster to read.
          { ...keyOf(rows, key), key, rank: order, eventTime, content: JSON.stringify(values) },
          ex`attribute_not_exists(pk) OR #rank < ${order}`,
        ),
      ),

    get: (rows, keys) => Promise.all(keys.map(async (key) => rowOf(await table.get(keyOf(rows, key))))),
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

/** The table Features. */
const featuresTable = sharedPort({
  uses: { documents: documents() },
  make: ({ documents }, { config }) => new Table(documents, config.tables.features),
});

export const onlineFeatures = teamPort({
  uses: { table: featuresTable() },
  grants: { read: [grant("Features", "GetItem")], write: [grant("Features", "PutItem")] },
  make: ({ table }, { team }) => createOnlineStore(table, team),
});
