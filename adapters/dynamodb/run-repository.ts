import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { type MonthUsage, monthOf } from "../../core/runs/attempts";
import type { AllRuns, RunQuery } from "../../core/runs/run-repository";
import type { Phase } from "../../core/runs/run-states";
import type { MachineRecord, Run, WorkerRecord } from "../../core/runs/shapes";
import type { FirstRecord } from "../../core/tracking/records/training-record";
import { isConditionFailed } from "./client";
import { readRow } from "./lineage-repository";
import { childRow, newRecordRow } from "./record-rows";
import { createRunSteps, readableRunOf, runIdOf, runKey, stillOpen } from "./run-steps";
import { absent, assign, type Expression, ex, exists, type Item, type Key, type Table, type Write } from "./table";

/** The number of retries after a conflict. All attempts of a team in one month update the same row. */
const rounds = 10;

const monthKey = (team: string, month: string) => ({ pk: `TEAM#${team}#USAGE`, sk: `MONTH#${month}` });

function createAttemptRepository(
  table: Table,
  key: (runId: string, sk: string) => Key,
): Pick<AllRuns, "beginAttempt" | "takeOverAttempt" | "recordJob" | "completeAttempt" | "monthUsage"> {
  const attemptKey = (runId: string, attempt: number) => key(runId, `ATTEMPT#${String(attempt).padStart(4, "0")}`);

  const isIn = (first: Phase, second: Phase) =>
    ex`#status IN (${"queued"}, ${"running"}) AND phase IN (${first}, ${second})`;
  /**
   * Writes in one transaction with a check of the run, so that an attempt does not change after the run's end. An attempt
   * that is past its phase has ended, so the row itself refuses a change.
   */
  const whileOpen = (runId: string, write: Write) =>
    table.transact([table.checking(key(runId, "RUN"), isIn("LaunchTraining", "Evaluate")), write], rounds);

  return {
    beginAttempt(runId, attempt) {
      const phase = attempt.evaluation === undefined ? "LaunchTraining" : "Evaluate";
      const row = { ...attemptKey(runId, attempt.attempt), record: attempt };
      const queued = ex`SET #status = ${"queued"}, queuedAt = ${attempt.startedAt}, updatedAt = ${attempt.startedAt}`;
      const run = table.updating(key(runId, "RUN"), queued, isIn(phase, phase));
      return table.transact([run, table.putting(row, absent)], rounds);
    },

    takeOverAttempt: (runId, attempt, claimedAt, at) =>
      whileOpen(
        runId,
        table.updating(
          attemptKey(runId, attempt),
          ex`SET #record.claimedAt = ${at}`,
          ex`#record.#status = ${"submitting"} AND #record.claimedAt = ${claimedAt}`,
        ),
      ),

    recordJob: (runId, attempt, jobId) =>
      whileOpen(
        runId,
        table.updating(
          attemptKey(runId, attempt),
          ex`SET ${assign({ status: "submitted", jobId }, "#record.")}`,
          ex`#record.#status = ${"submitting"}`,
        ),
      ),

    completeAttempt(team, runId, attempt, { status, reason, at, jobId, usage }) {
      const row = table.updating(
        attemptKey(runId, attempt),
        ex`SET ${assign({ status, endedAt: at, reason, jobId, usage }, "#record.")}`,
        ex`#record.#status IN (${"submitting"}, ${"submitted"})`,
      );
      if (usage === undefined) return table.transact([row], rounds);
      const { workerSeconds, gpuSeconds, estimatedUsd = 0 } = usage;
      const added = ex`ADD workerSeconds ${workerSeconds}, gpuSeconds ${gpuSeconds}, estimatedUsd ${estimatedUsd}`;
      return table.transact([row, table.updating(monthKey(team, monthOf(at)), added)], rounds);
    },

    async monthUsage(team, month) {
      const {
        workerSeconds = 0,
        gpuSeconds = 0,
        estimatedUsd = 0,
      }: Partial<MonthUsage> = (await table.get(monthKey(team, month))) ?? {};
      return { workerSeconds, gpuSeconds, estimatedUsd };
    },
  };
}

type WorkerRepository = Pick<
  AllRuns,
  "recordWorker" | "recordMachine" | "findOnInstance" | "recordInterruptionNotice" | "recordRecovery"
>;

/** The order of a Batch job's statuses in time, by which a late event is recognized. */
const statusOrder = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"];

const pad = (n: number): string => String(n).padStart(6, "0");
const instanceKey = (instanceId: string): string => `INSTANCE#${instanceId}`;

function createWorkerRepository(table: Table, key: (runId: string, sk: string) => Key): WorkerRepository {
  return {
    async recordWorker(runId, worker) {
      // The platform's attempt, Batch's attempt and the status, each with a fixed number of digits, so that they are
      // compared in this order.
      const order = (worker.attempt ?? 1) * 100_000 + worker.attempts.length * 100 + statusOrder.indexOf(worker.status);
      try {
        const row = { ...key(runId, `WORKER#${pad(worker.workerIndex)}`), order, record: worker };
        const { Put } = table.putting(row, ex`${absent} OR #order < ${order}`);
        const { Attributes } = await table.client.send(new PutCommand({ ...Put, ReturnValues: "ALL_OLD" }));
        return { newer: true, before: Attributes?.["record"] as WorkerRecord | undefined };
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        return { newer: false };
      }
    },

    async recordMachine(runId, machine) {
      const { instanceId } = machine;
      const listed = instanceId === undefined ? {} : { gsi1pk: instanceKey(instanceId), gsi1sk: runId };
      await table.put({ ...key(runId, `MACHINE#${machine.memberId}`), record: machine, ...listed }, absent);
    },

    async findOnInstance(instanceId) {
      const rows = await table.all(ex`gsi1pk = ${instanceKey(instanceId)}`, { index: "gsi1" });
      return rows.map((row) => ({
        runId: row["gsi1sk"] as string,
        memberId: (row["record"] as MachineRecord).memberId,
      }));
    },

    recordInterruptionNotice: (runId, memberId, at) =>
      table.update(
        key(runId, `MACHINE#${memberId}`),
        ex`SET #record.interruptionNoticeAt = ${at}`,
        ex`${exists} AND attribute_not_exists(#record.interruptionNoticeAt)`,
      ),

    recordRecovery(runId, recovery) {
      const row = { ...key(runId, `RECOVERY#${pad(recovery.generation)}`), record: recovery };
      const open = ex`${absent} OR attribute_not_exists(#record.seconds)`;
      return table.put(row, recovery.seconds === undefined ? absent : open);
    },
  };
}

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
      const unreadable = damaged.length === 0 ? undefined : damaged.map(({ pk }) => runIdOf(pk as string));
      return { runs, unreadable, nextToken: page.nextToken };
    },

    async listOpen() {
      const open = await table.all(ex`gsi1pk = ${"OPEN#RUNS"}`, { index: "gsi1" });
      const runs = await Promise.all(open.map((item) => find(item["runId"] as string)));
      return runs.filter((run): run is Run => run !== undefined);
    },

    close(runId, { status, at, failure, outcome }) {
      const change = ex`SET ${assign({ status, updatedAt: at, endedAt: at, failure, outcome })}`;
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
      const set = assign({ status: "queued", segment: after + 1, updatedAt: at, pauseAt, workers });
      const removed = ex`${pauseAt === undefined ? ex`, pauseAt` : ex``}${workers === undefined ? ex`, workers` : ex``}`;
      const change = ex`SET ${set} REMOVE phase, phaseOrder, pausedAt${removed}`;
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

function openRow({ runId, createdAt }: Pick<Run, "runId" | "createdAt">): Item {
  return { ...runKey(runId, "OPEN"), gsi1pk: "OPEN#RUNS", gsi1sk: `${createdAt}#${runId}`, runId };
}

/** A run that was never resumed has no number of a segment. */
function inSegment(segment: number): Expression {
  return segment === 0 ? ex`attribute_not_exists(#segment)` : ex`#segment = ${segment}`;
}

function filterOf({ experimentId, status }: Pick<RunQuery, "experimentId" | "status">): Expression | undefined {
  const ofExperiment = experimentId === undefined ? undefined : ex`experimentId = ${experimentId}`;
  const ofStatus = status && ex`#status = ${status}`;
  return ofExperiment && ofStatus ? ex`${ofExperiment} AND ${ofStatus}` : (ofExperiment ?? ofStatus);
}
