import type { CacheEntry, PipelineIndex, PipelineRepository, Wait } from "../../core/pipelines/ports";
import type { PipelineRun, PipelineVersion, StepReference, StepState, StepStatus } from "../../core/pipelines/records";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { absent, catalogPort, ex, exists, type Item, recordOf, type Table, teamCatalogPort } from "./table";

const openRuns = "PIPELINES#OPEN";
const allWaits = "PIPELINES#WAITS";
const padded = (n: number): string => String(n).padStart(6, "0");

export function createPipelineRepository(table: Table, team: string): PipelineRepository {
  const pipelinePk = (name: string) => `TEAM#${team}#PIPELINE#${name}`;
  const pk = (id: string) => `TEAM#${team}#PRUN#${id}`;
  const runKey = (id: string) => ({ pk: pk(id), sk: "RUN" });
  const openKey = (id: string) => ({ pk: pk(id), sk: "OPEN" });
  const stepKey = (id: string, { step, item }: Pick<StepReference, "step" | "item">) => ({
    pk: pk(id),
    sk: item === undefined ? `STEP#${step}` : `ITEM#${step}#${padded(item)}`,
  });
  const cacheKey = (key: string) => ({ pk: `TEAM#${team}#PIPELINECACHE#${key}`, sk: "ENTRY" });
  const waitKey = (kind: Wait["kind"], id: string) => ({ pk: `TEAM#${team}#WAIT#${kind}#${id}`, sk: "WAIT" });
  const versionOf = (version: number) => `VERSION#${padded(version)}`;
  const runs = `TEAM#${team}#PRUNS`;
  const findRun = (id: string) => table.record<PipelineRun>(runKey(id));
  /** The counters of `forEach` are attributes of their own: items change them at the same time. */
  const stateOf = (item: Item): StepState => {
    const state = recordOf<StepState>(item);
    const { next, ended, failed } = item as { next?: number; ended?: number; failed?: number };
    return state.map && next !== undefined
      ? { ...state, map: { ...state.map, next, ended: ended ?? 0, failed: failed ?? 0 } }
      : state;
  };

  return {
    putVersion: (version) =>
      table.tryTransact([
        table.putting({ pk: pipelinePk(version.name), sk: versionOf(version.version), record: version }, absent),
        table.putting({
          pk: pipelinePk(version.name),
          sk: "HEAD",
          gsi1pk: `TEAM#${team}#PIPELINES`,
          gsi1sk: version.name,
          record: version,
        }),
      ]),
    findVersion: (name, version) =>
      table.record<PipelineVersion>({ pk: pipelinePk(name), sk: version === undefined ? "HEAD" : versionOf(version) }),
    listVersions: (page) => table.page(ex`gsi1pk = ${`TEAM#${team}#PIPELINES`}`, { ...page, index: "gsi1" }),

    async createRun(run) {
      const { pipelineRunId: id, createdAt, pipeline } = run;
      const created = await table.transact(
        [
          table.putting(
            { ...runKey(id), gsi1pk: runs, gsi1sk: `${createdAt}#${id}`, pipeline, status: run.status, record: run },
            absent,
          ),
          table.putting({ ...openKey(id), gsi1pk: openRuns, gsi1sk: `${team}#${id}`, team, id }),
        ],
        5,
      );
      return { created, run: created ? run : (await findRun(id))! };
    },
    findRun,
    async listRuns(pipeline, { limit = 50, nextToken }) {
      const filter = pipeline === undefined ? undefined : ex`pipeline = ${pipeline}`;
      const page = await table.matching(ex`gsi1pk = ${runs}`, {
        limit,
        nextToken,
        filter,
        index: "gsi1",
        descending: true,
      });
      return { items: page.items.map((item) => recordOf<PipelineRun>(item)), nextToken: page.nextToken };
    },
    updateRun(id, change) {
      if ("stopping" in change)
        return table.update(
          runKey(id),
          ex`SET #record.stopping = ${change.stopping}`,
          ex`#status = ${"running"} AND attribute_not_exists(#record.stopping)`,
        );
      const { status, endedAt, failure } = change as Pick<PipelineRun, "status" | "endedAt" | "failure">;
      const set = ex`SET #status = ${status}, #record.#status = ${status}, #record.endedAt = ${endedAt}${failure ? ex`, #record.failure = ${failure}` : ex``}`;
      return table.update(runKey(id), set, ex`#status = ${"running"}`);
    },
    delistRun: async (id) => void (await table.delete(openKey(id))),

    steps: async (id) => (await table.all(ex`pk = ${pk(id)} AND begins_with(sk, ${"STEP#"})`)).map(stateOf),
    async statuses(id) {
      const where = ex`pk = ${pk(id)} AND begins_with(sk, ${"STEP#"})`;
      const items = await table.all(where, { select: ex`sk, #status` });
      return new Map(items.map(({ sk, status }) => [String(sk).slice("STEP#".length), status as StepStatus]));
    },
    async findStep(reference) {
      const item = await table.get(stepKey(reference.pipelineRunId, reference));
      return item && stateOf(item);
    },
    items: (id, step, page) => table.page(ex`pk = ${pk(id)} AND begins_with(sk, ${`ITEM#${step}#`})`, page),
    createStep: (id, state) =>
      table.put({ ...stepKey(id, state), status: state.status, attempt: state.attempt, record: state }, absent),
    updateStep(id, state, attempt) {
      const { status, map, item } = state;
      const counters = map ? ex`, #next = if_not_exists(#next, ${map.next})` : ex``;
      const write = [
        ex`SET #record = ${state}, #status = ${status}, attempt = ${state.attempt}${counters}`,
        ex`#status = ${"running"} AND attempt = ${attempt}`,
      ] as const;
      if (item === undefined || status === "running") return table.update(stepKey(id, state), ...write);
      const failed = status === "succeeded" ? 0 : 1;
      const whole = stepKey(id, { step: state.step });
      return table.transact(
        [
          table.updating(stepKey(id, state), ...write),
          table.updating(whole, ex`ADD ended ${1}, failed ${failed}`, exists),
        ],
        12,
      );
    },
    claimItem: (id, step) => table.increment(stepKey(id, { step }), "next"),

    findCached: async (key) => recordOf<CacheEntry | undefined>((await table.get(cacheKey(key))) ?? {}),
    putCached(key, entry, before) {
      const condition = before ? ex`#record = ${before}` : absent;
      return entry ? table.put({ ...cacheKey(key), record: entry }, condition) : table.delete(cacheKey(key), condition);
    },
    lastKey: (pipeline, step) => table.record({ pk: pipelinePk(pipeline), sk: `KEY#${step}` }),
    putLastKey: async (pipeline, step, record) =>
      void (await table.put({ pk: pipelinePk(pipeline), sk: `KEY#${step}`, record })),

    putWait: async (wait) =>
      void (await table.put({
        ...waitKey(wait.kind, wait.id),
        gsi1pk: allWaits,
        gsi1sk: `${team}#${wait.id}`,
        team,
        record: wait,
      })),
    findWait: (kind, id) => table.record<Wait>(waitKey(kind, id)),
    deleteWait: async (kind, id) => void (await table.delete(waitKey(kind, id))),
  };
}

export const pipelineIndex = catalogPort(
  (table): PipelineIndex => ({
    openRuns: async () =>
      (await table.all(ex`gsi1pk = ${openRuns}`, { index: "gsi1" })).map(({ team, id }) => ({
        team: team as string,
        id: id as string,
      })),
    waits: async () =>
      (await table.all(ex`gsi1pk = ${allWaits}`, { index: "gsi1" })).map((item) => ({
        ...recordOf<Wait>(item),
        team: item["team"] as string,
      })),
  }),
  { list: [queryIndex("Catalog", "gsi1")] },
);

export const pipelines = teamCatalogPort(createPipelineRepository, {
  read: [catalog("GetItem", "Query")],
  list: [queryIndex("Catalog", "gsi1")],
  write: [catalog("PutItem", "UpdateItem", "DeleteItem")],
});
