import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { type HostileKeys, type HostileWorld, hostileRequests } from "./hostile-requests";

/**
 * The program of a hostile training module inside its trainer: `node hostile-module.js <directory> <phase>`. It waits for `<phase>.go` (the world without
 * connection), asks for a session with the keys of the job, makes every request with both, and leaves `<phase>.json`.
 */
async function main(directory: string, phase: string): Promise<void> {
  while (!existsSync(`${directory}/${phase}.go`)) await sleep(20);
  const world = JSON.parse(readFileSync(`${directory}/${phase}.go`, "utf8")) as Omit<HostileWorld, "connection">;
  const environment = process.env;
  const runId = environment["RINGMASTER_RUN_ID"]!;
  const Payload = JSON.stringify({ runId, runKey: environment["RINGMASTER_RUN_KEY"] });
  const FunctionName = environment["RINGMASTER_CREDENTIALS_FUNCTION"]!;
  const answer = await new LambdaClient({}).send(new InvokeCommand({ FunctionName, Payload }));
  const session = JSON.parse(Buffer.from(answer.Payload!).toString()) as HostileKeys;
  const job: HostileKeys = {
    accessKeyId: environment["AWS_ACCESS_KEY_ID"]!,
    secretAccessKey: environment["AWS_SECRET_ACCESS_KEY"]!,
    sessionToken: environment["AWS_SESSION_TOKEN"]!,
  };
  const as = (credentials: HostileKeys) =>
    hostileRequests({
      ...world,
      connection: { endpoint: environment["AWS_ENDPOINT_URL"]!, region: "us-east-1", credentials, maxAttempts: 1 },
    });
  const outcomes = { session: await as(session), job: await as(job) };
  writeFileSync(`${directory}/${phase}.tmp`, JSON.stringify({ keys: session, outcomes }));
  renameSync(`${directory}/${phase}.tmp`, `${directory}/${phase}.json`);
}

const [, , directory = ".", phase = ""] = process.argv;
main(directory, phase)
  .catch((error: unknown) => {
    writeFileSync(`${directory}/${phase}.json`, JSON.stringify({ failed: String(error) }));
  })
  // Answers that nobody read keep their connections open.
  .finally(() => process.exit());
