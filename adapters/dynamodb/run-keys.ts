import { randomBytes } from "node:crypto";
import { BoundedMap } from "../../core/bounded-map";
import type { KeyPurpose, RunKeys } from "../../core/runs/run-key";
import { catalog } from "../../platform/permissions/grants";
import { absent, catalogPort, type Table } from "./table";

/** The keys that a process remembers. A key never changes. */
const maxRemembered = 10_000;

export function createRunKeys(table: Table): RunKeys {
  const keys = new BoundedMap<string, string>(maxRemembered);
  const nameOf = (runId: string, purpose: KeyPurpose) => `${purpose} ${runId}`;
  const rowOf = (runId: string, purpose: KeyPurpose) => ({
    pk: `RUN#${runId}`,
    sk: purpose === "training" ? "KEY" : `KEY#${purpose}`,
  });

  async function find(runId: string, purpose: KeyPurpose = "training"): Promise<string | undefined> {
    const name = nameOf(runId, purpose);
    const key = keys.get(name) ?? ((await table.get(rowOf(runId, purpose)))?.["runKey"] as string | undefined);
    if (key !== undefined) keys.set(name, key);
    return key;
  }

  return {
    find,
    async keyOf(runId, purpose = "training") {
      const cachedKey = keys.get(nameOf(runId, purpose));
      if (cachedKey !== undefined) return cachedKey;
      const runKey = randomBytes(32).toString("hex");
      // A run is launched once in most cases, so its key is written before it is looked for.
      if (!(await table.put({ ...rowOf(runId, purpose), runKey }, absent)))
        return (await find(runId, purpose)) as string;
      keys.set(nameOf(runId, purpose), runKey);
      return runKey;
    },
  };
}

export const runKeys = catalogPort(createRunKeys, { read: [catalog("GetItem")], create: [catalog("PutItem")] });
