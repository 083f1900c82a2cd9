import type { Clock } from "../../core/ports";
import type { CachedOutput, StepCache } from "../../core/runs/run-repository";
import { catalog } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { absent, catalogTable, type Table } from "./table";

/** An output that is this old is computed again, so that its content can be deleted. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
/** Exports are listed, and their files belong to a version. */
const permanent: ReadonlySet<string> = new Set(["Export"]);

/** Stores the outputs of a team's steps by input hash (docs/access-patterns.md, "Steps' outputs"). */
export function createStepCache(table: Table, team: string, clock: Clock): StepCache {
  const keyOf = (step: string, inputHash: string) => ({ pk: `TEAM#${team}#STEP#${step}#${inputHash}`, sk: "OUTPUT" });

  async function find(step: string, inputHash: string): Promise<CachedOutput | undefined> {
    return (await table.get(keyOf(step, inputHash)))?.["cached"] as CachedOutput | undefined;
  }

  return {
    find,
    async keep(step, inputHash, cached) {
      const expiry = permanent.has(step) ? {} : { expiresAt: Math.ceil((clock.now() + keptMs) / 1_000) };
      if (await table.put({ ...keyOf(step, inputHash), cached, ...expiry }, absent)) return cached;
      return (await find(step, inputHash)) ?? cached;
    },
  };
}

export const stepCache = teamPort({
  uses: { table: catalogTable() },
  grants: { read: [catalog("GetItem")], write: [catalog("PutItem")] },
  make: ({ table }, { team, clock }) => createStepCache(table, team, clock),
});
