import { STSClient } from "@aws-sdk/client-sts";
import { createPlatform, type Deployment } from "../../adapters/platform";
import { createRunSessions } from "../../adapters/sts/run-sessions";
import { type Credentials, issueRunCredentials, type RunSessions } from "../../core/training/run-credentials";
import { worldOf } from "../../platform/config";
import { sessionPolicy } from "../../platform/permissions";

let wired: { readonly deployment: Deployment; readonly sessions: RunSessions } | undefined;

/** Gives a run's trainers credentials that reach their run and nothing else. What it answers is secret: nothing of it is logged. */
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
