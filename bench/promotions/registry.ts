import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { createModelRepository, createOutboxIndex } from "../../adapters/dynamodb/model-repository";
import { Table } from "../../adapters/dynamodb/table";
import { createPlatformEvents } from "../../adapters/eventbridge/platform-events";
import { createObjectStore } from "../../adapters/s3/object-store";
import { createPointerStore } from "../../adapters/s3/pointer-store";
import { createTeamRegistry } from "../../adapters/team-registry";
import { defaultTeam } from "../../core/access/principals";
import { createLogger } from "../../core/logging";
import { teamPrefix } from "../../core/object-keys";
import type { ModelRepository } from "../../core/registry/repository";
import { testIam } from "../../test/support/iam";

export const table = "Catalog";
export const bucket = "models";

export interface Connection {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly maxAttempts?: number;
}

export interface Place {
  readonly table: string;
  readonly bucket: string;
  readonly platform: string;
}

const benchPlace: Place = { table, bucket, platform: "bench" };

export const connection = (endpoint: string): Connection => ({
  endpoint,
  region: "us-east-1",
  credentials: testIam.owner,
});

/** The artifact manifest of every version. Promotions do not read the weights. */
export const manifest = Buffer.from(
  JSON.stringify({ weightsSha256: "a".repeat(64), weights: { sha256: "a".repeat(64) }, inputSchema: [] }),
);

/** Connects the registry like the platform's functions, with outbox and pointers, by stock clients. */
export function connectRegistry(options: Connection, { table, bucket, platform }: Place = benchPlace) {
  const client = new DynamoDBClient(options);
  const s3 = new S3Client({ ...options, forcePathStyle: true });
  const events = new EventBridgeClient(options);
  const dynamodb = createDocumentClient(client);
  const prefix = teamPrefix(defaultTeam);
  const stored = createModelRepository(new Table(dynamodb, table), defaultTeam);
  let lostRaces = 0;
  const repository: ModelRepository = {
    ...stored,
    async commit(change, once) {
      const made = await stored.commit(change, once);
      if (!made) lostRaces += 1;
      return made;
    },
  };
  const objects = createObjectStore(s3, bucket, prefix);
  const connected = createTeamRegistry({
    team: defaultTeam,
    repository,
    objects: { ...objects, find: async () => manifest },
    pointers: createPointerStore(s3, bucket, prefix),
    events: createPlatformEvents(events, platform),
    uriOf: (key) => `s3://${bucket}/${prefix}${key}`,
    // The sweep publishes late events. The result is checked, so the warning is dropped.
    logger: createLogger(() => undefined, Date),
  });
  return {
    ...connected,
    objects,
    outboxIndex: createOutboxIndex(new Table(dynamodb, table)),
    lostRaces(): number {
      const count = lostRaces;
      lostRaces = 0;
      return count;
    },
    close(): void {
      for (const each of [client, s3, events]) each.destroy();
    },
  };
}

export type ConnectedRegistry = ReturnType<typeof connectRegistry>;
