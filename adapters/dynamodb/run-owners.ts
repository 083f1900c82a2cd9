import { BoundedMap } from "../../core/bounded-map";
import { RunNotFoundError } from "../../core/runs/errors";
import { defaultExperimentId } from "../../core/tracking/experiments";
import { canBeRunId } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { sharedPort } from "../port";
import { runIdentities } from "./run-identities";
import { runTeams } from "./run-steps";

const maxKnown = 1_000;

/** Finds out which team a run belongs to, by its record; by its own row where an earlier version created it without a record. */
export const runOwners = sharedPort({
  uses: { identities: runIdentities("read"), teams: runTeams("read") },
  make({ identities, teams }) {
    /** The team of a run never changes. */
    const known = new BoundedMap<string, string>(maxKnown);
    const teamOf = async (runId: string): Promise<string | undefined> => {
      const team = known.get(runId) ?? (await identities.identify(runId))?.team ?? (await teams.teamOf(runId));
      if (team !== undefined) known.set(runId, team);
      return team;
    };
    return {
      /** `undefined` where there is no such run. */
      teamOf,
      /** @throws RunNotFoundError */
      async findTeam(runId: string): Promise<string> {
        const team = await teamOf(runId);
        if (team === undefined) throw new RunNotFoundError(runId);
        return team;
      },
      /** As `RunIdentities.identify`. A training run without a record counts to the default experiment, so that its points are kept. */
      async identify(runId: string): Promise<RunIdentity | undefined> {
        const known = await identities.identify(runId);
        if (known || !canBeRunId(runId)) return known;
        const team = await teams.teamOf(runId);
        return team === undefined ? undefined : { runId, team, experimentId: defaultExperimentId, source: "training" };
      },
    };
  },
});
