import { BoundedMap } from "../../core/bounded-map";
import { runNotFound } from "../../core/runs/errors";
import { canBeRunId } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { catalog } from "../../platform/permissions/grants";
import { catalogPort, ex, type Item, type Table } from "./table";

/** More than a process meets. An identity never changes, so a remembered one stays true. */
const maxRemembered = 100_000;

export interface RunIdentities {
  identify(runId: string): Promise<RunIdentity | undefined>;
  teamOf(runId: string): Promise<string | undefined>;
  /** @throws RUN_NOT_FOUND */
  findTeam(runId: string): Promise<string>;
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

export function createRunIdentities(table: Table): RunIdentities {
  const identities = new BoundedMap<string, RunIdentity>(maxRemembered);
  const remember = (identity: RunIdentity): void => void identities.set(identity.runId, identity);
  async function identify(runId: string): Promise<RunIdentity | undefined> {
    const cachedIdentity = identities.get(runId);
    if (cachedIdentity || !canBeRunId(runId)) return cachedIdentity;
    const item = await table.get(recordKey(runId), ex`pk, team, experimentId, #source`);
    if (!item) return undefined;
    const identity = identityOf(item);
    remember(identity);
    return identity;
  }
  return {
    remember,
    identify,
    teamOf: async (runId) => (await identify(runId))?.team,
    async findTeam(runId) {
      const identity = await identify(runId);
      if (!identity) throw runNotFound(runId);
      return identity.team;
    },
  };
}

export const runIdentities = catalogPort(createRunIdentities, { read: [catalog("GetItem")] });
