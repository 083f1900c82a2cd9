import {
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { inRounds } from "../../core/backoff";
import { DatasetBusyError } from "../../core/datasets/errors";
import type { DatasetRepository } from "../../core/datasets/repository";
import type { DatasetDraft, DatasetManifest, DatasetSummary, DatasetVersion } from "../../core/datasets/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { documents, holds, isConditionFailed, pauseBeforeRound, queryPage } from "./client";

/** The maximum number of rounds. A round fails only if another registration succeeded in the meantime. */
const rounds = 32;
const versionKey = (version: number): string => `VERSION#${String(version).padStart(9, "0")}`;

/**
 * Stores a team's dataset versions in the Catalog table (docs/access-patterns.md, "Datasets"). The row of a version
 * contains its whole manifest. At 90 bytes per shard, DynamoDB's 400 KB hold about 4,000 shards, or half a terabyte.
 */
export function createDatasetRepository(
  client: DynamoDBDocumentClient,
  table: string,
  team: string,
): DatasetRepository {
  const partition = (name: string): string => `TEAM#${team}#DATASET#${name}`;

  async function read(name: string, sk: string): Promise<Record<string, unknown> | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { pk: partition(name), sk }, ConsistentRead: true }),
    );
    return Item;
  }

  async function find(name: string, version: number): Promise<DatasetVersion | undefined> {
    const item = await read(name, versionKey(version));
    return item && versionOf(item);
  }

  async function findByDigest(name: string, digest: string): Promise<DatasetVersion | undefined> {
    const pointer = await read(name, `DIGEST#${digest}`);
    return pointer && find(name, pointer["version"] as number);
  }

  async function newestOf(name: string): Promise<number> {
    return ((await read(name, "HEAD"))?.["latest"] as number | undefined) ?? 0;
  }

  function versionsOf(name: string): Pick<QueryCommandInput, "TableName"> & Partial<QueryCommandInput> {
    return {
      TableName: table,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": partition(name), ":prefix": "VERSION#" },
      ScanIndexForward: false,
    };
  }

  /** Tries to register a version. Returns false if another registration was first. */
  async function tryRegister(manifest: DatasetManifest, by: string | undefined): Promise<boolean> {
    const { name, version, digest, rowCount, bytes, createdAt } = manifest;
    const pk = partition(name);
    try {
      await client.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              Put: {
                TableName: table,
                Item: { pk, sk: versionKey(version), team, manifest, ...(by === undefined ? {} : { createdBy: by }) },
                ConditionExpression: "attribute_not_exists(pk)",
              },
            },
            {
              Put: {
                TableName: table,
                Item: { pk, sk: `DIGEST#${digest}`, version },
                ConditionExpression: "attribute_not_exists(pk)",
              },
            },
            {
              Put: {
                TableName: table,
                Item: {
                  pk,
                  sk: "HEAD",
                  gsi1pk: `TEAM#${team}#DATASETS`,
                  gsi1sk: name,
                  latest: version,
                  rowCount,
                  bytes,
                  updatedAt: createdAt,
                  ...(by === undefined ? {} : { updatedBy: by }),
                },
                ...(version === 1
                  ? { ConditionExpression: "attribute_not_exists(pk)" }
                  : {
                      ConditionExpression: "latest = :before",
                      ExpressionAttributeValues: { ":before": version - 1 },
                    }),
              },
            },
          ],
        }),
      );
      return true;
    } catch (error) {
      // A condition failed, or another transaction changed the same rows. The rows now show the next version number.
      if (error instanceof Error && error.name === "TransactionCanceledException" && lostRace(error)) return false;
      throw error;
    }
  }

  return {
    find,
    findByDigest,

    async register(draft: DatasetDraft, { at, by }) {
      const busy = () => new DatasetBusyError(draft.name, rounds);
      return inRounds({ rounds, pause: pauseBeforeRound, busy }, async () => {
        const known = await findByDigest(draft.name, draft.digest);
        if (known) return { created: false, version: known };
        const version = (await newestOf(draft.name)) + 1;
        const manifest: DatasetManifest = { ...draft, version, createdAt: at };
        if (await tryRegister(manifest, by)) {
          return { created: true, version: { manifest, team, ...(by === undefined ? {} : { createdBy: by }) } };
        }
        return undefined;
      });
    },

    async findNewest(name) {
      const version = await newestOf(name);
      return version === 0 ? undefined : find(name, version);
    },

    async findActive(name) {
      let start: Record<string, unknown> | undefined;
      do {
        const page = await client.send(
          new QueryCommand({
            ...versionsOf(name),
            FilterExpression: "attribute_not_exists(deprecation)",
            ConsistentRead: true,
            Limit: 8,
            ExclusiveStartKey: start,
          }),
        );
        const [newest] = page.Items ?? [];
        if (newest) return versionOf(newest);
        start = page.LastEvaluatedKey;
      } while (start);
      return undefined;
    },

    async listVersions({ name, limit, nextToken }) {
      const page = await queryPage(client, { ...versionsOf(name), Limit: limit }, nextToken);
      return { items: page.items.map(versionOf), nextToken: page.nextToken };
    },

    async list({ limit, nextToken }) {
      const page = await queryPage(
        client,
        {
          TableName: table,
          IndexName: "gsi1",
          KeyConditionExpression: "gsi1pk = :team",
          ExpressionAttributeValues: { ":team": `TEAM#${team}#DATASETS` },
          Limit: limit,
        },
        nextToken,
      );
      return { items: page.items.map(summaryOf), nextToken: page.nextToken };
    },

    async recordWarnings(name, version, warnings) {
      await holds(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: partition(name), sk: versionKey(version) },
            UpdateExpression: "SET warnings = :warnings",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":warnings": warnings },
          }),
        ),
      );
    },

    async deprecate(name, version, deprecation) {
      try {
        await client.send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: partition(name), sk: versionKey(version) },
            UpdateExpression: "SET deprecation = if_not_exists(deprecation, :deprecation)",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":deprecation": deprecation },
          }),
        );
        return true;
      } catch (error) {
        if (isConditionFailed(error)) return false;
        throw error;
      }
    },
  };
}

function lostRace(error: Error): boolean {
  const reasons = (error as Error & { CancellationReasons?: readonly { Code?: string }[] }).CancellationReasons ?? [];
  return reasons.some(({ Code }) => Code === "ConditionalCheckFailed" || Code === "TransactionConflict");
}

function versionOf(item: Record<string, unknown>): DatasetVersion {
  return {
    manifest: item["manifest"] as DatasetManifest,
    team: item["team"] as string,
    ...(item["createdBy"] === undefined ? {} : { createdBy: item["createdBy"] as string }),
    ...(item["warnings"] === undefined ? {} : { warnings: item["warnings"] as DatasetVersion["warnings"] }),
    ...(item["deprecation"] === undefined ? {} : { deprecation: item["deprecation"] as DatasetVersion["deprecation"] }),
  };
}

function summaryOf(item: Record<string, unknown>): DatasetSummary {
  return {
    name: item["gsi1sk"] as string,
    latestVersion: item["latest"] as number,
    rowCount: item["rowCount"] as number,
    bytes: item["bytes"] as number,
    updatedAt: item["updatedAt"] as string,
    ...(item["updatedBy"] === undefined ? {} : { updatedBy: item["updatedBy"] as string }),
  };
}

export const datasets = teamPort({
  uses: { documents: documents() },
  grants: {
    read: [catalog("GetItem")],
    resolve: [catalog("Query")],
    list: [catalog("Query"), queryIndex("Catalog", "gsi1")],
    register: [catalog("GetItem", "PutItem")],
    annotate: [catalog("UpdateItem")],
  },
  make: ({ documents }, { config, team }) => createDatasetRepository(documents, config.tables.catalog, team),
});
