import { AssumeRoleCommand, type STSClient } from "@aws-sdk/client-sts";
import type { Run } from "../../core/training/run";
import type { RunSessions } from "../../core/training/run-credentials";
import type { PolicyDocument } from "../../platform/permissions";

/** The least that STS gives: a session that was copied is of no use 15 minutes after the last renewal, which ends with the run. */
const sessionSeconds = 900;

/** @param policyOf what a run's session may do at most */
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
          // What CloudTrail shows beside each request of the run's trainers.
          RoleSessionName: run.runId,
          Policy: JSON.stringify(policyOf(run)),
          DurationSeconds: sessionSeconds,
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
