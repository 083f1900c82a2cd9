import fs from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { teamPrefix } from "../../../core/object-keys";
import type { ObjectStore } from "../../../core/ports";
import type { MetricBatch } from "../../../core/tracking/metric-store";
import { createDynamoDb } from "../../../local/dynamodb";
import { createFront } from "../../../local/front";
import { createS3 } from "../../../local/s3";
import type { Service } from "../../../local/service";
import { readBody } from "../../../local/wire";
import { rangeTable } from "../../local/dynamodb/harness";
import { testIam } from "../../support/iam";

export interface TrainerCloud {
  readonly endpoint: string;
  readonly directory: string;
  readonly store: ObjectStore;
  readonly batches: MetricBatch[];
  /** Whether the ingest function fails, and takes nothing. */
  metricsAway: boolean;
  /** Resolves at the first batch, past or future, for which `condition` holds. */
  received(condition: (batch: MetricBatch) => boolean): Promise<MetricBatch>;
  /** Every connection breaks and none is taken until the answer is called. */
  outage(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const credentials = testIam.owner;

export async function startCloud(): Promise<TrainerCloud> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "trainer-"));
  const folder = (name: string) => {
    fs.mkdirSync(path.join(directory, name));
    return path.join(directory, name);
  };
  const batches: MetricBatch[] = [];
  const watchers = new Set<() => void>();
  const ingest: Service = {
    signingName: "lambda",
    async handle(request, response) {
      const body = await readBody(request, 1024 * 1024);
      if (cloud.metricsAway) {
        response.writeHead(503).end();
        return;
      }
      batches.push(JSON.parse(body.toString()) as MetricBatch);
      for (const look of watchers) look();
      response.writeHead(200, { "content-type": "application/json" }).end('{"accepted":true}');
    },
    close: async () => undefined,
  };
  const services = [
    await createS3({ dataDirectory: folder("s3"), events: { put: () => undefined } }),
    await createDynamoDb({ dataDirectory: folder("dynamodb") }),
    ingest,
  ];
  let front: Server = createFront(services, testIam);
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const { port } = front.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const shut = async () => {
    const closed = new Promise((resolve) => front.close(resolve));
    front.closeAllConnections();
    await closed;
  };
  const client = new S3Client({ endpoint, region: "us-east-1", credentials });
  await client.send(new CreateBucketCommand({ Bucket: "ringmaster" }));
  await createGangsTable(endpoint);
  const cloud: TrainerCloud = {
    endpoint,
    directory,
    store: createObjectStore(client, "ringmaster", teamPrefix("default")),
    batches,
    metricsAway: false,
    received: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          const found = batches.find(condition);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
    async outage() {
      await shut();
      return async () => {
        front = createFront(services, testIam);
        await new Promise<void>((resolve) => front.listen(port, "127.0.0.1", resolve));
      };
    },
    async close() {
      client.destroy();
      await shut();
      for (const service of services) await service.close();
      fs.rmSync(directory, { recursive: true, force: true });
    },
  };
  return cloud;
}

async function createGangsTable(endpoint: string): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
  await client.send(new CreateTableCommand({ TableName: "Gangs", ...rangeTable("S") }));
  client.destroy();
}
