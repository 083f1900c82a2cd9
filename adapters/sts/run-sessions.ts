import { AssumeRoleCommand, type STSClient } from "@aws-sdk/client-sts";
import type { RunSessions } from "../../core/training/run-credentials";

/** The least that STS gives: a session that was copied is of no use 15 minutes after the last renewal, which ends with the run. */
const sessionSeconds = 900;

export function createRunSessions(client: STSClient, roleArn: string): RunSessions {
  return {
    async open(runId, policy) {
      const { Credentials } = await client.send(
        new AssumeRoleCommand({
          RoleArn: roleArn,
          // What CloudTrail shows beside each request of the run's trainers.
          RoleSessionName: runId,
          Policy: JSON.stringify(policy),
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
