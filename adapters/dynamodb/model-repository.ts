import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import type { ModelChange } from "../../core/registry/change";
import type { HistoryEntry, Model, ModelVersion } from "../../core/registry/model";
import type { ModelPolicy } from "../../core/registry/policy-shapes";
import type { ModelRepository, Once } from "../../core/registry/repository";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { documents, isTransactionConditionFailed, isTransactionConflict, queryAll } from "./client";
import { modelRow } from "./lineage-rows";

/** The index key of all teams' events that are not published yet. */
export const outboxIndexKey = "REGISTRY#OUTBOX";

const pad = (n: number, digits: number): string => String(n).padStart(digits, "0");

type Writes = NonNullable<TransactWriteCommandInput["TransactItems"]>;

const absent = { ConditionExpression: "attribute_not_exists(pk)" };

/** Stores a team's registry in the Catalog table (docs/access-patterns.md, "Models"). */
export function createModelRepository(client: DynamoDBDocumentClient, table: string, team: string): ModelRepository {
  const pk = (name: string): string => `TEAM#${team}#MODEL#${name}`;

  async function get<T>(name: string, sk: string): Promise<T | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { pk: pk(name), sk }, ConsistentRead: true }),
    );
    return Item?.["record"] as T | undefined;
  }

  async function query<T>(input: Omit<QueryCommandInput, "TableName">): Promise<T[]> {
    return (await queryAll(client, { TableName: table, ...input })).map((item) => item["record"] as T);
  }

  const ofModel = (name: string, prefix: string) => ({
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: { ":pk": pk(name), ":prefix": prefix },
    ConsistentRead: true,
  });

  return {
    find: (name) => get<Model>(name, "MODEL"),
    findVersion: (name, version) => get<ModelVersion>(name, `VERSION#${pad(version, 9)}`),
    findVersionOfRun: (name, runId) => get<number>(name, `RUN#${runId}`),
    findSemver: (name, semver) => get<number>(name, `SEMVER#${semver}`),
    findHistory: (name, revision) => get<HistoryEntry>(name, `HISTORY#${pad(revision, 12)}`),
    findRequest: (name, request) => get<number>(name, `REQUEST#${request}`),
    listVersions: (name) => query<ModelVersion>({ ...ofModel(name, "VERSION#"), ScanIndexForward: false }),
    findEvent: (name, revision) => get<HistoryEntry>(name, `EVENT#${pad(revision, 12)}`),
    async removeEvent(name, revision) {
      const Key = { pk: pk(name), sk: `EVENT#${pad(revision, 12)}` };
      await client.send(new DeleteCommand({ TableName: table, Key }));
    },
    history: (name) => query<HistoryEntry>(ofModel(name, "HISTORY#")),
    historyBetween: (name, from, until) =>
      query<HistoryEntry>({
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :until",
        ExpressionAttributeValues: {
          ":pk": pk(name),
          ":from": `HISTORY#${pad(from, 12)}`,
          ":until": `HISTORY#${pad(until, 12)}`,
        },
        ConsistentRead: true,
      }),
    policies: (name) => query<ModelPolicy>(ofModel(name, "POLICY#")),

    list: () =>
      query<Model>({
        IndexName: "gsi1",
        KeyConditionExpression: "gsi1pk = :team",
        ExpressionAttributeValues: { ":team": `TEAM#${team}#MODELS` },
      }),

    commit: (change, once) => transact(rowsOf(change, once)),

    commitRename({ left, taken }) {
      const from = left.model.name;
      const moved = taken.versions.flatMap((version) => [
        ...(version.semver === undefined
          ? []
          : [{ Put: put(taken.model.name, `SEMVER#${version.semver}`, version.version) }]),
        ...lineageOf(version),
        ...lineageOf({ ...version, model: from }).map(({ Put: { Item } }) => ({
          Delete: { TableName: table, Key: { pk: Item["pk"], sk: Item["sk"] } },
        })),
      ]);
      return transact([...rowsOf(left), ...rowsOf(taken), ...moved]);
    },
  };

  function put(name: string, sk: string, record: unknown, more: Record<string, unknown> = {}) {
    return { TableName: table, Item: { pk: pk(name), sk, record, ...more } };
  }

  function lineageOf({ model, dataset, version, runId: by }: ModelVersion) {
    const edge = { model, version, ...(by === undefined ? {} : { runId: by }) };
    return dataset ? [{ Put: { TableName: table, Item: modelRow(team, dataset, edge) } }] : [];
  }

  function rowsOf({ model, versions, history, semver, policy }: ModelChange, { runId, request }: Once = {}): Writes {
    const putOnce = (sk: string, record: unknown) => ({ Put: { ...put(model.name, sk, record), ...absent } });
    return [
      {
        Put: {
          ...put(model.name, "MODEL", model, {
            revision: model.revision,
            gsi1pk: `TEAM#${team}#MODELS`,
            gsi1sk: model.name,
          }),
          // Every change of the model has this condition, so changes have one order and none is lost.
          ...(model.revision === 1
            ? absent
            : {
                ConditionExpression: "revision = :expected",
                ExpressionAttributeValues: { ":expected": model.revision - 1 },
              }),
        },
      },
      ...versions.map((version) => ({ Put: put(model.name, `VERSION#${pad(version.version, 9)}`, version) })),
      putOnce(`HISTORY#${pad(history.revision, 12)}`, history),
      {
        Put: put(model.name, `EVENT#${pad(history.revision, 12)}`, history, {
          team,
          model: model.name,
          gsi1pk: outboxIndexKey,
          gsi1sk: `${history.at}#${team}#${pad(history.revision, 12)}`,
        }),
      },
      ...(semver === undefined ? [] : [putOnce(`SEMVER#${semver.text}`, semver.version)]),
      ...(policy === undefined ? [] : [putOnce(`POLICY#${pad(policy.revision, 12)}`, policy)]),
      ...(runId === undefined ? [] : [putOnce(`RUN#${runId}`, history.version)]),
      ...(request === undefined ? [] : [putOnce(`REQUEST#${request}`, history.revision)]),
      ...(history.action === "registered" ? versions.flatMap(lineageOf) : []),
    ];
  }

  /** Runs a transaction. Returns false if a condition did not hold or another transaction changed the same rows. */
  async function transact(TransactItems: Writes): Promise<boolean> {
    try {
      await client.send(new TransactWriteCommand({ TransactItems }));
      return true;
    } catch (error) {
      if (isTransactionConditionFailed(error) || isTransactionConflict(error)) return false;
      throw error;
    }
  }
}

export const models = teamPort({
  uses: { documents: documents() },
  grants: {
    read: [catalog("GetItem", "Query")],
    list: [queryIndex("Catalog", "gsi1")],
    commit: [catalog("PutItem")],
    publish: [catalog("DeleteItem")],
  },
  make: ({ documents }, { config, team }) => createModelRepository(documents, config.tables.catalog, team),
});

/** The rows of a registry, for functions that change no model. */
export const registryReads = teamPort({
  uses: { repository: models("read") },
  make: ({ repository }) => ({ repository }),
});
