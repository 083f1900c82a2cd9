import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { runKeys } from "../../adapters/dynamodb/run-keys";
import { runReads } from "../../adapters/dynamodb/run-steps";
import { runSessions } from "../../adapters/sts/run-sessions";
import { issueRunCredentials } from "../../core/training/run-credentials";
import { functionHandler } from "../function-handler";

/** Gives a run's trainers credentials that reach their run and nothing else. The answer is secret and is not logged. */
export const handler = functionHandler(
  {
    shared: { identities: runIdentities("read"), keys: runKeys("read"), sessions: runSessions("assume") },
    team: { runs: runReads("find") },
  },
  async ({ identities, forTeam, ...ports }, event: unknown) => {
    const findRun = async (runId: string) => {
      const team = await identities.teamOf(runId);
      return team === undefined ? undefined : forTeam(team).runs.find(runId);
    };
    return issueRunCredentials({ ...ports, findRun }, event);
  },
);
