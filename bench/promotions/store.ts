import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { createDynamoDb } from "../../local/dynamodb";
import { createFront } from "../../local/front";
import { listen, portOf } from "../../local/listen";
import { createS3 } from "../../local/s3";
import type { Service } from "../../local/service";
import { testIam } from "../../test/support/iam";
import { type Bus, createBus } from "./bus";
import { bucket, connection, table } from "./registry";

export interface Store {
  readonly endpoint: string;
  readonly bus: Bus;
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the embedded DynamoDB and S3 in their own folder, with a catalog, a bucket, and a recording bus. */
export async function startStore(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-promotions-"));
  const bus = createBus();
  let [requested, inFlight] = [0, 0];
  const counted = (service: Service): Service => ({
    signingName: service.signingName,
    async handle(...request) {
      requested += 1;
      inFlight += 1;
      await service.handle(...request).finally(() => {
        inFlight -= 1;
      });
    },
    close: () => service.close(),
  });
  const services = [
    await createDynamoDb({ dataDirectory: join(directory, "dynamodb") }),
    await createS3({ dataDirectory: join(directory, "s3"), events: { put: () => undefined } }),
    bus.service,
  ].map(counted);
  const front = createFront(services, testIam);
  await listen(front, 0, "");
  const endpoint = `http://127.0.0.1:${portOf(front)}`;
  await createTables(endpoint);
  return {
    endpoint,
    bus,
    async quiet() {
      for (let still = 0, before = requested; still < 5; before = requested) {
        await sleep(5);
        still = requested === before && inFlight === 0 ? still + 1 : 0;
      }
    },
    async close() {
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      for (const service of services) await service.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function createTables(endpoint: string): Promise<void> {
  const client = new DynamoDBClient(connection(endpoint));
  const s3 = new S3Client({ ...connection(endpoint), forcePathStyle: true });
  const schema = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: "HASH" as const },
    { AttributeName: range, KeyType: "RANGE" as const },
  ];
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: ["pk", "sk", "gsi1pk", "gsi1sk"].map((AttributeName) => ({
        AttributeName,
        AttributeType: "S",
      })),
      KeySchema: schema("pk", "sk"),
      GlobalSecondaryIndexes: [
        { IndexName: "gsi1", KeySchema: schema("gsi1pk", "gsi1sk"), Projection: { ProjectionType: "ALL" } },
      ],
    }),
  );
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  s3.destroy();
}
