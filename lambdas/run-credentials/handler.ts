import { runKeys } from "../../adapters/dynamodb/run-keys";
import { runOwners } from "../../adapters/dynamodb/run-owners";
import { runReads } from "../../adapters/dynamodb/run-steps";
import { runSessions } from "../../adapters/sts/run-sessions";
import { issueRunCredentials } from "../../core/training/run-credentials";
import { functionHandler } from "../function-handler";

/** Gives a run's trainers credentials that reach their run and nothing else. The answer is secret and is not logged. */
export const handler = functionHandler(
  {
    shared: { owners: runOwners(), keys: runKeys("read"), sessions: runSessions("assume") },
    team: { runs: runReads() },
  },
  async ({ owners, forTeam, ...ports }, event: unknown) => {
    const findRun = async (runId: string) => {
      const team = await owners.teamOf(runId);
      return team === undefined ? undefined : forTeam(team).runs.find(runId);
    };
    return issueRunCredentials({ ...ports, findRun }, event);
  },
);
