import type { EndedRuns } from "../../core/training/end-sessions";
import { catalog } from "../../platform/permissions/grants";
import { catalogPort, ex, type Table } from "./table";

export function createEndedRuns(table: Table): EndedRuns {
  const pk = "RUNS#ENDED";
  return {
    async add({ runId, endedAt }, until) {
      await table.put({ pk, sk: runId, endedAt, expiresAt: Math.ceil(until / 1_000) });
    },
    async list() {
      const rows = await table.all(ex`pk = ${pk}`);
      return rows.map(({ sk, endedAt }) => ({ runId: String(sk), endedAt: String(endedAt) }));
    },
  };
}

export const endedRuns = catalogPort(createEndedRuns, { record: [catalog("PutItem", "Query")] });
