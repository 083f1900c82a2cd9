import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import type { KeyPurpose } from "../../core/runs/run-key";
import type { Run } from "../../core/runs/shapes";
import { type RunSessions, runSessionSeconds } from "../../core/training/run-credentials";
import { worldOf } from "../../platform/config/platform";
import { evaluationPolicy, type PolicyDocument, sessionPolicy } from "../../platform/permissions";
import { assumeRunRole } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** Creates the port for sessions of runs. @param policyOf returns the maximum rights of a run's session */
export function createRunSessions(
  client: STSClient,
  roleArn: string,
  policyOf: (run: Run, purpose: KeyPurpose) => PolicyDocument,
): RunSessions {
  return {
    async open(run, purpose) {
      const { Credentials } = await client.send(
        new AssumeRoleCommand({
          RoleArn: roleArn,
          // CloudTrail shows the name with each request, and the run role's policy denies ended runs by it.
          RoleSessionName: run.runId,
          Policy: JSON.stringify(policyOf(run, purpose)),
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

export const runSessions = sharedPort({
  grants: { assume: [assumeRunRole] },
  make(_uses, { config }) {
    const world = worldOf(config);
    return createRunSessions(new STSClient({}), config.runRoleArn, (run, purpose) =>
      purpose === "evaluation" ? evaluationPolicy(run, world) : sessionPolicy(run, world),
    );
  },
});
