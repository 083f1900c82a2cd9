import type { ModelChange } from "../../core/registry/change";
import type { HistoryEntry, Model, ModelVersion } from "../../core/registry/model";
import type { OutboxIndex } from "../../core/registry/outbox";
import type { ModelRepository, Once } from "../../core/registry/repository";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { modelRow } from "./lineage-repository";
import {
  absent,
  catalogPort,
  type Expression,
  ex,
  type Item,
  type Key,
  recordOf,
  type Table,
  teamCatalogPort,
  type Write,
} from "./table";

/** The index key of all teams' events that are not published yet. */
const outboxIndexKey = "REGISTRY#OUTBOX";

const pad = (n: number, digits: number): string => String(n).padStart(digits, "0");

export function createModelRepository(table: Table, team: string): ModelRepository {
  const pk = (name: string): string => `TEAM#${team}#MODEL#${name}`;

  const get = <T>(name: string, sk: string) => table.record<T>({ pk: pk(name), sk });
  const ofModel = (name: string, prefix: string) => ex`pk = ${pk(name)} AND begins_with(sk, ${prefix})`;

  return {
    find: (name) => get<Model>(name, "MODEL"),
    findVersion: (name, version) => get<ModelVersion>(name, `VERSION#${pad(version, 9)}`),
    findVersionOfRun: (name, runId) => get<number>(name, `RUN#${runId}`),
    findSemver: (name, semver) => get<number>(name, `SEMVER#${semver}`),
    findHistory: (name, revision) => get<HistoryEntry>(name, `HISTORY#${pad(revision, 12)}`),
    findRequest: (name, request) => get<number>(name, `REQUEST#${request}`),
    listVersions: (name) => table.records(ofModel(name, "VERSION#"), { descending: true }),
    findEvent: (name, revision) => get<HistoryEntry>(name, `EVENT#${pad(revision, 12)}`),
    async removeEvent(name, revision) {
      await table.delete({ pk: pk(name), sk: `EVENT#${pad(revision, 12)}` });
    },
    history: (name) => table.records(ofModel(name, "HISTORY#")),
    historyBetween: (name, from, until) =>
      table.records(
        ex`pk = ${pk(name)} AND sk BETWEEN ${`HISTORY#${pad(from, 12)}`} AND ${`HISTORY#${pad(until, 12)}`}`,
      ),
    policies: (name) => table.records(ofModel(name, "POLICY#")),

    list: () => table.records(ex`gsi1pk = ${`TEAM#${team}#MODELS`}`, { index: "gsi1" }),

    commit: (change, once) => table.tryTransact(rowsOf(change, once)),

    commitRename({ left, taken }) {
      const from = left.model.name;
      const moved = taken.versions.flatMap((version) => [
        ...(version.semver === undefined ? [] : [put(taken.model.name, `SEMVER#${version.semver}`, version.version)]),
        ...edgesOf(version).map((edge) => table.putting(edge)),
        ...edgesOf({ ...version, model: from }).map((edge) => table.deleting(edge)),
      ]);
      return table.tryTransact([...rowsOf(left), ...rowsOf(taken), ...moved]);
    },
  };

  function put(name: string, sk: string, record: unknown, more: Item = {}, condition?: Expression): Write {
    return table.putting({ pk: pk(name), sk, record, ...more }, condition);
  }

  function edgesOf({ model, dataset, version, runId: by }: ModelVersion): readonly Key[] {
    const edge = { model, version, runId: by };
    return dataset ? [modelRow(team, dataset, edge)] : [];
  }

  function rowsOf({ model, versions, history, semver, policy }: ModelChange, { runId, request }: Once = {}): Write[] {
    const { name, revision } = model;
    const putOnce = (sk: string, record: unknown) => put(name, sk, record, {}, absent);
    const event = pad(history.revision, 12);
    return [
      put(
        name,
        "MODEL",
        model,
        { revision, gsi1pk: `TEAM#${team}#MODELS`, gsi1sk: name },
        // Every change of the model has this condition, so changes have one order and none is lost.
        revision === 1 ? absent : ex`revision = ${revision - 1}`,
      ),
      ...versions.map((version) => put(name, `VERSION#${pad(version.version, 9)}`, version)),
      putOnce(`HISTORY#${event}`, history),
      put(name, `EVENT#${event}`, history, {
        team,
        model: name,
        gsi1pk: outboxIndexKey,
        gsi1sk: `${history.at}#${team}#${event}`,
      }),
      ...(semver === undefined ? [] : [putOnce(`SEMVER#${semver.text}`, semver.version)]),
      ...(policy === undefined ? [] : [putOnce(`POLICY#${pad(policy.revision, 12)}`, policy)]),
      ...(runId === undefined ? [] : [putOnce(`RUN#${runId}`, history.version)]),
      ...(request === undefined ? [] : [putOnce(`REQUEST#${request}`, history.revision)]),
      ...(history.action === "registered" ? versions.flatMap(edgesOf).map((edge) => table.putting(edge)) : []),
    ];
  }
}

export const models = teamCatalogPort(createModelRepository, {
  read: [catalog("GetItem", "Query")],
  list: [queryIndex("Catalog", "gsi1")],
  commit: [catalog("PutItem")],
  publish: [catalog("DeleteItem")],
});

export const registryReads = teamPort({
  uses: { repository: models("read") },
  make: ({ repository }) => ({ repository }),
});

/** The maximum number of events in one sweep. The next sweep takes the rest. */
const maxEvents = 500;

/** Finds the unpublished events of all teams, the oldest first. Eventually consistent. */
export function createOutboxIndex(table: Table): OutboxIndex {
  return {
    async list(before) {
      const unpublished = ex`gsi1pk = ${outboxIndexKey} AND gsi1sk < ${before}`;
      const { items } = await table.read(unpublished, { index: "gsi1", limit: maxEvents });
      return items.map((item) => ({
        team: item["team"] as string,
        model: item["model"] as string,
        revision: recordOf<HistoryEntry>(item).revision,
      }));
    },
  };
}

export const outboxIndex = catalogPort(createOutboxIndex, { list: [queryIndex("Catalog", "gsi1")] });
