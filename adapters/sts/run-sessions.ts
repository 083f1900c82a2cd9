import { AssumeRoleCommand, type STSClient } from "@aws-sdk/client-sts";
import type { RunSessions } from "../../core/training/run-credentials";

/** One role that assumes another gets an hour at most, whatever the other's own limit (role chaining). */
const sessionSeconds = 3_600;

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
