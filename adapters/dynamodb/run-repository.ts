import type { AllRuns, RunQuery } from "../../core/runs/run-repository";
import type { Run } from "../../core/runs/shapes";
import type { FirstRecord } from "../../core/tracking/records/training-record";
import { createAttemptRepository } from "./attempt-repository";
import { absent, type Expression, ex, exists } from "./expression";
import { readRow } from "./lineage-rows";
import { childRow, newRecordRow } from "./record-rows";
import { createRunSteps, readableRunOf, runIdOf, runKey, stillOpen } from "./run-steps";
import type { Item, Table } from "./table";
import { createWorkerRepository } from "./worker-repository";

/** Stores every team's runs in the Catalog table (docs/access-patterns.md, "Runs"). */
export function createRunRepository(table: Table): AllRuns<FirstRecord> {
  const steps = createRunSteps(table);
  const { find } = steps;

  return {
    ...steps,

    async create(run, record) {
      const { status, phase, updatedAt, endedAt, failure, outcome, ...rest } = run;
      const { segment, pauseAt, pausedAt, workers, ...fixed } = rest;
      const row = {
        ...runKey(run.runId, "RUN"),
        gsi1pk: `TEAM#${run.team}#RUNS`,
        gsi1sk: `${run.createdAt}#${run.runId}`,
        team: run.team,
        experimentId: record.identity.experimentId,
        data: fixed,
        ...{ status, phase, updatedAt, endedAt, failure, outcome, pauseAt },
      };
      const { parentRunId } = record.kept;
      const created = await table.transact([
        table.putting(row, absent),
        table.putting(openRow(run)),
        table.putting(newRecordRow(record.identity, record.kept, Date.parse(run.createdAt)), absent),
        ...(parentRunId === undefined ? [] : [table.putting(childRow(run, parentRunId))]),
        table.putting(readRow(run.team, run.dataset, run.runId)),
      ]);
      return { created, run: created ? run : ((await find(run.runId)) ?? run) };
    },

    async list({ team, limit, nextToken, ...filter }) {
      const page = await table.matching(ex`gsi1pk = ${`TEAM#${team}#RUNS`}`, {
        index: "gsi1",
        filter: filterOf(filter),
        descending: true,
        limit,
        nextToken,
      });
      const runs = page.items.flatMap((item) => readableRunOf(item) ?? []);
      const damaged = page.items.filter((item) => !readableRunOf(item));
      const unreadable = damaged.length === 0 ? {} : { unreadable: damaged.map(({ pk }) => runIdOf(pk as string)) };
      return { runs, ...unreadable, nextToken: page.nextToken };
    },

    async listOpen() {
      const open = await table.all(ex`gsi1pk = ${"OPEN#RUNS"}`, { index: "gsi1" });
      const runs = await Promise.all(open.map((item) => find(item["runId"] as string)));
      return runs.filter((run): run is Run => run !== undefined);
    },

    close(runId, { status, at, failure, outcome }) {
      const change = ex`SET #status = ${status}, updatedAt = ${at}, endedAt = ${at}${
        failure ? ex`, failure = ${failure}` : ex``
      }${outcome ? ex`, outcome = ${outcome}` : ex``}`;
      return table.update(runKey(runId, "RUN"), change, ex`${stillOpen} OR #status = ${"paused"}`);
    },

    async leaveQueue(runId, at) {
      const run = await find(runId);
      if (run?.queuedAt === undefined) return;
      const queuedMs = (run.queuedMs ?? 0) + Math.max(0, Date.parse(at) - Date.parse(run.queuedAt));
      const status = run.status === "queued" ? "running" : run.status;
      await table.update(
        runKey(runId, "RUN"),
        ex`SET #status = ${status}, queuedMs = ${queuedMs} REMOVE queuedAt`,
        ex`#status = ${run.status} AND queuedAt = ${run.queuedAt}`,
      );
    },

    pause: (runId, { segment, at }) =>
      table.update(
        runKey(runId, "RUN"),
        ex`SET #status = ${"paused"}, pausedAt = ${at}, updatedAt = ${at}`,
        ex`${stillOpen} AND phase = ${"LaunchTraining"} AND ${inSegment(segment)}`,
      ),

    resume(runId, { after, createdAt, pauseAt, workers, at }) {
      const [set, removed] = [
        ex`SET #status = ${"queued"}, #segment = ${after + 1}, updatedAt = ${at}`,
        ex`REMOVE phase, phaseOrder, pausedAt`,
      ];
      const change = ex`${set}${pauseAt === undefined ? ex`` : ex`, pauseAt = ${pauseAt}`}${
        workers === undefined ? ex`` : ex`, workers = ${workers}`
      } ${removed}${pauseAt === undefined ? ex`, pauseAt` : ex``}${workers === undefined ? ex`, workers` : ex``}`;
      return table.transact([
        table.updating(runKey(runId, "RUN"), change, ex`#status = ${"paused"} AND ${inSegment(after)}`),
        table.putting(openRow({ runId, createdAt })),
      ]);
    },

    async delist(runId) {
      await table.delete(runKey(runId, "OPEN"));
    },

    async markEndPublished(runId) {
      await table.update(runKey(runId, "OPEN"), ex`SET endPublished = ${true}`, exists);
    },

    ...createAttemptRepository(table, runKey),
    ...createWorkerRepository(table, runKey),

    async recordWarning(runId, warning) {
      await table.put({ ...runKey(runId, `WARNING#${warning.code}`), record: warning });
    },

    async recordProgress(runId, progress) {
      const { step, generation } = progress;
      const newer = ex`${absent} OR generation < ${generation} OR (generation = ${generation} AND #step <= ${step})`;
      await table.put({ ...runKey(runId, "PROGRESS"), step, generation, record: progress }, newer);
    },
  };
}

/** Builds the row that lists a run as open. */
function openRow({ runId, createdAt }: Pick<Run, "runId" | "createdAt">): Item {
  return { ...runKey(runId, "OPEN"), gsi1pk: "OPEN#RUNS", gsi1sk: `${createdAt}#${runId}`, runId };
}

/** A run that was never resumed has no number of a segment. */
function inSegment(segment: number): Expression {
  return segment === 0 ? ex`attribute_not_exists(#segment)` : ex`#segment = ${segment}`;
}

/** Returns the filter of a list of runs. */
function filterOf({ experimentId, status }: Pick<RunQuery, "experimentId" | "status">): Expression | undefined {
  const ofExperiment = experimentId === undefined ? undefined : ex`experimentId = ${experimentId}`;
  const ofStatus = status && ex`#status = ${status}`;
  return ofExperiment && ofStatus ? ex`${ofExperiment} AND ${ofStatus}` : (ofExperiment ?? ofStatus);
}
