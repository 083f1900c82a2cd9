import type { CachedOutput, StepCache } from "../../core/runs/run-repository";
import { catalog } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { absent } from "./expression";
import { catalogTable, type Table } from "./table";

/** Stores the outputs of a team's steps by input hash (docs/access-patterns.md, "Steps' outputs"). */
export function createStepCache(table: Table, team: string): StepCache {
  const keyOf = (step: string, inputHash: string) => ({ pk: `TEAM#${team}#STEP#${step}#${inputHash}`, sk: "OUTPUT" });

  async function find(step: string, inputHash: string): Promise<CachedOutput | undefined> {
    return (await table.get(keyOf(step, inputHash)))?.["cached"] as CachedOutput | undefined;
  }

  return {
    find,
    async keep(step, inputHash, cached) {
      if (await table.put({ ...keyOf(step, inputHash), cached }, absent)) return cached;
      return (await find(step, inputHash)) ?? cached;
    },
  };
}

export const stepCache = teamPort({
  uses: { table: catalogTable() },
  grants: { read: [catalog("GetItem")], write: [catalog("PutItem")] },
  make: ({ table }, { team }) => createStepCache(table, team),
});
