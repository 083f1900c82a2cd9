import { inRounds } from "../../core/backoff";
import {
  type LoggedModel,
  type LoggedModels,
  loggedModelBusy,
  loggedModelNotFound,
  loggedModelTooLarge,
} from "../../core/tracking/logged-model";
import { catalog } from "../../platform/permissions/grants";
import { isTransactionConflict, maxIdLength, pauseBeforeRound } from "./client";
import { absent, ex, type Item, type Table, teamCatalogPort } from "./table";

/** The maximum number of rounds. A round fails only if another change succeeded in the meantime. */
const rounds = 32;
const retry = (modelId: string) => ({
  rounds,
  pause: pauseBeforeRound,
  busy: () => loggedModelBusy(modelId, rounds),
});
/** The maximum size of the content: DynamoDB's 400 KB per item minus keys and names. */
const maxRowBytes = 380_000;

export function createLoggedModelRepository(table: Table, team: string): LoggedModels {
  const key = (modelId: string) => ({ pk: `TEAM#${team}#LOGGEDMODEL#${modelId}`, sk: "MODEL" });
  const listKey = (experimentId: string): string => `TEAM#${team}#EXPERIMENT#${experimentId}#LOGGEDMODELS`;

  function rowOf(model: LoggedModel): Item {
    // Stored as text, because values may be NaN, which JSON does not support, or numbers beyond DynamoDB's range.
    const text = JSON.stringify(model, (_, value: unknown) => (typeof value === "number" ? encode(value) : value));
    const bytes = Buffer.byteLength(text);
    if (bytes > maxRowBytes) throw loggedModelTooLarge(model.modelId, bytes, maxRowBytes);
    return { ...key(model.modelId), revision: model.revision, model: text };
  }

  const modelOf = (item: Item): LoggedModel => {
    const read = JSON.parse(item["model"] as string) as LoggedModel;
    return { ...read, metrics: read.metrics.map((metric) => ({ ...metric, value: Number(metric.value) })) };
  };

  async function find(modelId: string): Promise<LoggedModel | undefined> {
    if (modelId.length > maxIdLength) return undefined;
    const item = await table.get(key(modelId));
    return item && modelOf(item);
  }

  return {
    find,

    async create(model) {
      const draft: LoggedModel = { ...model, revision: 1 };
      const { modelId, experimentId, createdAt } = draft;
      const entry = { pk: listKey(experimentId), sk: `${String(createdAt).padStart(15, "0")}#${modelId}`, modelId };
      return inRounds(retry(modelId), async () => {
        try {
          const created = await table.transact([table.putting(rowOf(draft), absent), table.putting(entry)]);
          return created ? draft : find(modelId);
        } catch (error) {
          if (isTransactionConflict(error)) return undefined;
          throw error;
        }
      });
    },

    async change(modelId, transition) {
      return inRounds(retry(modelId), async () => {
        const before = await find(modelId);
        if (!before) throw loggedModelNotFound(modelId);
        const changed = transition(before);
        if (changed === undefined || changed === before) return before;
        const after: LoggedModel = { ...changed, revision: before.revision + 1 };
        return (await table.put(rowOf(after), ex`revision = ${before.revision}`)) ? after : undefined;
      });
    },

    async list(experimentId) {
      const entries = await table.all(ex`pk = ${listKey(experimentId)}`);
      const ids = entries.map(({ modelId }) => modelId as string);
      const unordered = (await table.batchGet(ids.map(key))).map(modelOf);
      const models = new Map(unordered.map((model) => [model.modelId, model]));
      return ids.flatMap((id) => models.get(id) ?? []);
    },
  };
}

function encode(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

export const loggedModels = teamCatalogPort(createLoggedModelRepository, {
  read: [catalog("GetItem")],
  list: [catalog("Query", "BatchGetItem")],
  write: [catalog("PutItem")],
});
