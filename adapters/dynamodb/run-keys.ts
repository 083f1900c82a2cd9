import { randomBytes } from "node:crypto";
import type { RunKeys } from "../../core/runs/run-key";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { absent } from "./expression";
import { catalogTable, type Table } from "./table";

/** Stores the row `KEY` of a run (docs/access-patterns.md, "Runs"). */
export function createRunKeys(table: Table): RunKeys {
  const rowOf = (runId: string) => ({ pk: `RUN#${runId}`, sk: "KEY" });

  async function find(runId: string): Promise<string | undefined> {
    return (await table.get(rowOf(runId)))?.["runKey"] as string | undefined;
  }

  return {
    find,
    async keyOf(runId) {
      const known = await find(runId);
      if (known !== undefined) return known;
      const runKey = randomBytes(32).toString("hex");
      return (await table.put({ ...rowOf(runId), runKey }, absent)) ? runKey : ((await find(runId)) as string);
    },
  };
}

export const runKeys = sharedPort({
  uses: { table: catalogTable() },
  grants: { read: [catalog("GetItem")], create: [catalog("PutItem")] },
  make: ({ table }) => createRunKeys(table),
});
