import { BoundedMap } from "../../core/bounded-map";
import { canBeRunId } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { ex } from "./expression";
import { catalogTable, type Item, type Table } from "./table";

/** More than a process meets. An identity never changes, so a remembered one stays true. */
const maxRemembered = 100_000;

export interface RunIdentities {
  /** Finds a run of any team. `undefined` also for a training run without a record, which an earlier version created. */
  identify(runId: string): Promise<RunIdentity | undefined>;
  remember(identity: RunIdentity): void;
}

export const recordKey = (runId: string) => ({ pk: `RUN#${runId}`, sk: "RECORD" });

export function identityOf(item: Item): RunIdentity {
  return {
    runId: (item["pk"] as string).slice("RUN#".length),
    team: item["team"] as string,
    experimentId: item["experimentId"] as string,
    source: item["source"] as RunIdentity["source"],
  };
}

/** Reads the team and the experiment of runs from their rows `RECORD`. */
export function createRunIdentities(table: Table): RunIdentities {
  const identities = new BoundedMap<string, RunIdentity>(maxRemembered);
  const remember = (identity: RunIdentity): void => void identities.set(identity.runId, identity);
  return {
    remember,
    async identify(runId) {
      const known = identities.get(runId);
      if (known || !canBeRunId(runId)) return known;
      const item = await table.get(recordKey(runId), ex`pk, team, experimentId, #source`);
      if (!item) return undefined;
      const identity = identityOf(item);
      remember(identity);
      return identity;
    },
  };
}

export const runIdentities = sharedPort({
  uses: { table: catalogTable() },
  grants: { read: [catalog("GetItem")] },
  make: ({ table }) => createRunIdentities(table),
});
