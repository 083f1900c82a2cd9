import { join } from "node:path";
import { createInterface } from "node:readline";
import { ClassicLevel } from "classic-level";
import { createDynamoDb } from "../../local/dynamodb";
import { createS3 } from "../../local/s3";
import type { Service } from "../../local/service";
import { createStepFunctions } from "../../local/states";
import { startServer } from "../../test/support/web-server";
import { runChild, say } from "../support/child";

/** Serves DynamoDB, S3 and Step Functions over a directory, each on its own port, until its input ends. */
runChild(async () => {
  const [, , data = "", sync] = process.argv;
  if (sync === "unsynced") doNotSync();
  const events = { put: () => undefined };
  const functions = { invoke: async (_name: string, payload: unknown) => ({ payload }), invokeAsync: async () => {} };
  const services = [
    await createDynamoDb({ dataDirectory: join(data, "dynamodb") }),
    await createS3({ dataDirectory: join(data, "s3"), events }),
    await createStepFunctions({ dataDirectory: join(data, "states"), functions, events }),
  ];
  const ports = await Promise.all(services.map(serve));
  say({ ports });
  // Each line requests the CPU time so far.
  for await (const _line of createInterface({ input: process.stdin })) {
    const { user, system } = process.cpuUsage();
    say({ cpuMs: (user + system) / 1_000 });
  }
});

async function serve(service: Service): Promise<number> {
  return (await startServer((request, response) => void service.handle(request, response))).port;
}

/** Turns syncing off to show its cost. The services have no such option. */
function doNotSync(): void {
  const { batch } = ClassicLevel.prototype;
  ClassicLevel.prototype.batch = function unsynced(this: unknown, operations: unknown, options?: object) {
    return Reflect.apply(batch, this, [operations, { ...options, sync: false }]);
  } as typeof batch;
}
