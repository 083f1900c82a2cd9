import { AssumeRoleCommand, type STSClient } from "@aws-sdk/client-sts";
import type { Run } from "../../core/runs/run";
import { type RunSessions, runSessionSeconds } from "../../core/training/run-credentials";
import type { PolicyDocument } from "../../platform/permissions";

/**
 * Creates the port for sessions of runs.
 * @param policyOf returns the maximum rights of a run's session
 */
export function createRunSessions(
  client: STSClient,
  roleArn: string,
  policyOf: (run: Run) => PolicyDocument,
): RunSessions {
  return {
    async open(run) {
      const { Credentials } = await client.send(
        new AssumeRoleCommand({
          RoleArn: roleArn,
          // CloudTrail shows the name with each request, and the run role's policy denies ended runs by it.
          RoleSessionName: run.runId,
          Policy: JSON.stringify(policyOf(run)),
          DurationSeconds: runSessionSeconds,
        }),
      );
      if (
        !Credentials?.AccessKeyId ||
        !Credentials.SecretAccessKey ||
        !Credentials.SessionToken ||
        !Credentials.Expiration
      )
        throw new Error(`STS answered AssumeRole of ${roleArn} without credentials`);
      return {
        accessKeyId: Credentials.AccessKeyId,
        secretAccessKey: Credentials.SecretAccessKey,
        sessionToken: Credentials.SessionToken,
        expiresAt: Credentials.Expiration.toISOString(),
      };
    },
  };
}
