import type { Clock } from "../../core/ports";
import type { CachedOutput, StepCache } from "../../core/runs/run-repository";
import { catalog } from "../../platform/permissions/grants";
import { absent, type Table, teamCatalogPort } from "./table";

/** An output that is this old is computed again, so that its content can be deleted. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
/** Exports are listed, and their files belong to a version. */
const permanent: ReadonlySet<string> = new Set(["Export"]);

export function createStepCache(table: Table, team: string, clock: Clock): StepCache {
  const keyOf = (step: string, inputHash: string) => ({ pk: `TEAM#${team}#STEP#${step}#${inputHash}`, sk: "OUTPUT" });

  const find = (step: string, inputHash: string) => table.record<CachedOutput>(keyOf(step, inputHash));

  return {
    find,
    async keep(step, inputHash, record) {
      const expiresAt = permanent.has(step) ? undefined : Math.ceil((clock.now() + keptMs) / 1_000);
      if (await table.put({ ...keyOf(step, inputHash), record, expiresAt }, absent)) return record;
      return (await find(step, inputHash)) ?? record;
    },
  };
}

export const stepCache = teamCatalogPort(createStepCache, { read: [catalog("GetItem")], write: [catalog("PutItem")] });
