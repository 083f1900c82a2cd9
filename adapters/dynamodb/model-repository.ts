import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  type QueryCommandInput,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import type { HistoryEntry, Model, ModelVersion } from "../../core/registry/model";
import type { ModelPolicy } from "../../core/registry/policy";
import type { ModelRepository } from "../../core/registry/repository";
import { isTransactionConditionFailed, isTransactionConflict, queryAll } from "./client";
import { modelRow } from "./lineage-rows";

/** Of events that are left to be told, of all teams. */
export const outboxIndexKey = "REGISTRY#OUTBOX";

const pad = (n: number, digits: number): string => String(n).padStart(digits, "0");

/** A team's registry in the Catalog table; docs/access-patterns.md, "Models". */
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
    policies: (name) => query<ModelPolicy>(ofModel(name, "POLICY#")),

    list: () =>
      query<Model>({
        IndexName: "gsi1",
        KeyConditionExpression: "gsi1pk = :team",
        ExpressionAttributeValues: { ":team": `TEAM#${team}#MODELS` },
      }),

    async commit({ model, versions, history, semver, policy }, { runId, request } = {}) {
      const put = (sk: string, record: unknown, more: Record<string, unknown> = {}) => ({
        TableName: table,
        Item: { pk: pk(model.name), sk, record, ...more },
      });
      const absent = { ConditionExpression: "attribute_not_exists(pk)" };
      const lineageOf = ({ dataset, version, runId: by }: ModelVersion) => {
        const edge = { model: model.name, version, ...(by === undefined ? {} : { runId: by }) };
        return dataset ? [{ Put: { TableName: table, Item: modelRow(team, dataset, edge) } }] : [];
      };
      const putOnce = (sk: string, record: unknown) => ({ Put: { ...put(sk, record), ...absent } });
      try {
        await client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Put: {
                  ...put("MODEL", model, {
                    revision: model.revision,
                    gsi1pk: `TEAM#${team}#MODELS`,
                    gsi1sk: model.name,
                  }),
                  // Every change of the model goes through this condition: there is one order of changes, and no lost one.
                  ...(model.revision === 1
                    ? absent
                    : {
                        ConditionExpression: "revision = :expected",
                        ExpressionAttributeValues: { ":expected": model.revision - 1 },
                      }),
                },
              },
              ...versions.map((version) => ({ Put: put(`VERSION#${pad(version.version, 9)}`, version) })),
              putOnce(`HISTORY#${pad(history.revision, 12)}`, history),
              {
                Put: put(`EVENT#${pad(history.revision, 12)}`, history, {
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
            ],
          }),
        );
        return true;
      } catch (error) {
        if (isTransactionConditionFailed(error) || isTransactionConflict(error)) return false;
        throw error;
      }
    },
  };
}
