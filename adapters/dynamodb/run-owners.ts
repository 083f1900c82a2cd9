import { BoundedMap } from "../../core/bounded-map";
import { runNotFound } from "../../core/runs/errors";
import { defaultExperimentId } from "../../core/tracking/experiments";
import { canBeRunId } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { sharedPort } from "../port";
import { runIdentities } from "./run-identities";
import { runTeams } from "./run-steps";

const maxKnown = 1_000;

/**
 * Finds the team of a run by its record. A run that an earlier version created without a record is found by its own row.
 */
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
      /** Returns undefined if the run does not exist. */
      teamOf,
      /** @throws RUN_NOT_FOUND */
      async findTeam(runId: string): Promise<string> {
        const team = await teamOf(runId);
        if (team === undefined) throw runNotFound(runId);
        return team;
      },
      /**
       * Finds the team, experiment and source of a run (`RunIdentities.identify`). A training run without a record belongs
       * to the default experiment, so that its points are kept.
       */
      async identify(runId: string): Promise<RunIdentity | undefined> {
        const known = await identities.identify(runId);
        if (known || !canBeRunId(runId)) return known;
        const team = await teams.teamOf(runId);
        return team === undefined ? undefined : { runId, team, experimentId: defaultExperimentId, source: "training" };
      },
    };
  },
});
