import { STSClient } from "@aws-sdk/client-sts";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { createRunSessions } from "../../adapters/sts/run-sessions";
import { type Credentials, issueRunCredentials, type RunSessions } from "../../core/training/run-credentials";
import { worldOf } from "../../platform/config";
import { sessionPolicy } from "../../platform/permissions";

let wired: { readonly deployment: Deployment; readonly sessions: RunSessions } | undefined;

/**
 * Returns credentials that permit a run's trainers access to their run and nothing else. The response is secret and is
 * never logged.
 */
export async function handler(event: unknown): Promise<Credentials> {
  wired ??= wire();
  const { deployment, sessions } = wired;
  return issueRunCredentials(
    {
      keys: deployment.runKeys,
      sessions,
      findRun: async (runId) => {
        const team = await deployment.teamOf(runId);
        return team === undefined ? undefined : deployment.forTeam(team).runs.find(runId);
      },
    },
    event,
  );
}

function wire() {
  const deployment = createPlatform();
  const world = worldOf(deployment.config);
  const sessions = createRunSessions(new STSClient({}), deployment.config.runRoleArn, (run) =>
    sessionPolicy(run, world),
  );
  return { deployment, sessions };
}
