import { randomBytes } from "node:crypto";
import { BoundedMap } from "../../core/bounded-map";
import type { RunKeys } from "../../core/runs/run-key";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { absent } from "./expression";
import { catalogTable, type Table } from "./table";

/** The keys that a process remembers. A key never changes. */
const maxRemembered = 10_000;

/** Stores the row `KEY` of a run (docs/access-patterns.md, "Runs"). */
export function createRunKeys(table: Table): RunKeys {
  const keys = new BoundedMap<string, string>(maxRemembered);
  const rowOf = (runId: string) => ({ pk: `RUN#${runId}`, sk: "KEY" });

  async function find(runId: string): Promise<string | undefined> {
    const key = keys.get(runId) ?? ((await table.get(rowOf(runId)))?.["runKey"] as string | undefined);
    if (key !== undefined) keys.set(runId, key);
    return key;
  }

  return {
    find,
    async keyOf(runId) {
      const known = keys.get(runId);
      if (known !== undefined) return known;
      const runKey = randomBytes(32).toString("hex");
      // A run is launched once in most cases, so its key is written before it is looked for.
      if (!(await table.put({ ...rowOf(runId), runKey }, absent))) return (await find(runId)) as string;
      keys.set(runId, runKey);
      return runKey;
    },
  };
}

export const runKeys = sharedPort({
  uses: { table: catalogTable() },
  grants: { read: [catalog("GetItem")], create: [catalog("PutItem")] },
  make: ({ table }) => createRunKeys(table),
});
