import { spawnSync } from "node:child_process";

/**
 * Amazon's DynamoDB Local, to compare with. It must run already, with any credentials:
 *
 *     java -cp 'lib/*' com.amazonaws.services.dynamodbv2.local.main.ServerRunner -inMemory -port 8000
 *     RINGMASTER_ORACLES=1 npx jest test/peers/dynamodb    # RINGMASTER_ORACLE_DYNAMODB=http://… for another address
 */
export const endpoint = process.env["RINGMASTER_ORACLE_DYNAMODB"] ?? "http://127.0.0.1:8000";

/** `describe`, or `describe.skip` with a line that says why. Jest wants to know before anything can be awaited. */
export function describeWithOriginal(title: string, body: () => void): void {
  const reason = absence();
  // Jest keeps back the console of a file in which nothing runs.
  if (reason) process.stderr.write(`Skipped "${title}": ${reason}.\n`);
  (reason ? describe.skip : describe)(title, body);
}

function absence(): string | undefined {
  if (process.env["RINGMASTER_ORACLES"] === undefined) return "RINGMASTER_ORACLES is not set";
  // Any answer will do, an error too.
  const probe = `fetch(${JSON.stringify(endpoint)}).then(() => process.exit(0), () => process.exit(1))`;
  const { status } = spawnSync(process.execPath, ["-e", probe], { timeout: 5_000 });
  return status === 0 ? undefined : `no DynamoDB Local answers at ${endpoint}`;
}
