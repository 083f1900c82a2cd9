import { readSteps } from "../../../../adapters/dynamodb/step-records";
import { type MonthUsage, monthOf } from "../../../../core/runs/attempts";
import type { RunRepository } from "../../../../core/runs/run-repository";
import { isOpen, phases } from "../../../../core/runs/run-states";
import type { Run, RunDetails, TrainingAttempt, WorkerRecord } from "../../../../core/runs/shapes";
import type { Warning } from "../../../../core/shapes";

const noUsage: MonthUsage = { workerSeconds: 0, gpuSeconds: 0, estimatedUsd: 0 };
const statusOrder = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"];

interface Rows {
  run: Run;
  listed: boolean;
  endPublished?: true;
  steps: RunDetails["steps"];
  attempts: Map<number, TrainingAttempt>;
  workers: Map<number, WorkerRecord>;
  machines: Map<string, RunDetails["machines"][number]>;
  recoveries: Map<number, RunDetails["recoveries"][number]>;
  warnings: Map<string, Warning>;
  tokens: Map<string, Set<string>>;
  progress?: RunDetails["progress"];
}

/** Runs in memory, with the conditions of those in DynamoDB; the same contract suite holds for both. */
export function createMemoryRuns(): RunRepository & { readonly rows: ReadonlyMap<string, Rows> } {
  const rows = new Map<string, Rows>();
  const months = new Map<string, MonthUsage>();
  const open = (runId: string) => {
    const found = rows.get(runId);
    return found && isOpen(found.run.status) ? found : undefined;
  };
  const training = (runId: string) => {
    const found = open(runId);
    return found?.run.phase === "LaunchTraining" ? found : undefined;
  };
  const must = (runId: string) => {
    const found = rows.get(runId);
    if (!found) throw new Error(`no run ${runId}`);
    return found;
  };

  return {
    rows,
    async create(run) {
      const known = rows.get(run.runId);
      if (known) return { created: false, run: known.run };
      rows.set(run.runId, {
        run,
        listed: true,
        steps: [],
        attempts: new Map(),
        workers: new Map(),
        machines: new Map(),
        recoveries: new Map(),
        warnings: new Map(),
        tokens: new Map(),
      });
      return { created: true, run };
    },
    find: async (runId) => rows.get(runId)?.run,
    async findDetails(runId) {
      const found = rows.get(runId);
      if (!found) return undefined;
      const { run, steps, attempts, workers, machines, recoveries, warnings, progress, endPublished } = found;
      const read = readSteps(steps);
      return {
        run,
        steps: read.steps,
        attempts: [...attempts.values()].sort((a, b) => a.attempt - b.attempt),
        workers: [...workers.values()],
        machines: [...machines.values()],
        recoveries: [...recoveries.values()],
        warnings: [...read.warnings, ...warnings.values()],
        progress,
        ...(endPublished ? { endPublished } : {}),
      };
    },
    list: async () => ({ runs: [...rows.values()].map(({ run }) => run) }),
    listOpen: async () => [...rows.values()].filter(({ listed }) => listed).map(({ run }) => run),
    async enterPhase(runId, phase, at) {
      const found = open(runId);
      if (!found || (found.run.phase && phases.indexOf(found.run.phase) > phases.indexOf(phase))) return false;
      found.run = { ...found.run, status: "running", phase, updatedAt: at };
      return true;
    },
    async leaveQueue(runId, at) {
      const found = must(runId);
      const { queuedAt, ...run } = found.run;
      if (queuedAt === undefined) return;
      const queuedMs = (run.queuedMs ?? 0) + Math.max(0, Date.parse(at) - Date.parse(queuedAt));
      found.run = { ...run, queuedMs, status: run.status === "queued" ? "running" : run.status };
    },
    async goBack(runId, from, to, at) {
      const found = open(runId);
      if (found?.run.phase === from) found.run = { ...found.run, phase: to, updatedAt: at };
    },
    async pause(runId, { segment, at }) {
      const found = training(runId);
      if (!found || (found.run.segment ?? 0) !== segment) return false;
      found.run = { ...found.run, status: "paused", pausedAt: at, updatedAt: at };
      return true;
    },
    async resume(runId, { after, pauseAt, workers, at }) {
      const found = must(runId);
      if (found.run.status !== "paused" || (found.run.segment ?? 0) !== after) return false;
      const { phase, pausedAt, pauseAt: _, workers: __, ...rest } = found.run;
      found.listed = true;
      found.run = {
        ...rest,
        status: "queued",
        segment: after + 1,
        updatedAt: at,
        ...(pauseAt === undefined ? {} : { pauseAt }),
        ...(workers === undefined ? {} : { workers }),
      };
      return true;
    },
    async close(runId, { status, at, failure, outcome }) {
      const paused = rows.get(runId)?.run.status === "paused" ? rows.get(runId) : undefined;
      const found = open(runId) ?? paused;
      if (!found) return false;
      found.run = { ...found.run, status, updatedAt: at, endedAt: at, failure, outcome };
      return true;
    },
    async delist(runId) {
      must(runId).listed = false;
    },
    async markEndPublished(runId) {
      const found = must(runId);
      if (found.listed) found.endPublished = true;
    },
    async recordStep(runId, record) {
      const found = must(runId);
      found.steps = [...found.steps.filter(({ step }) => step !== record.step), record];
    },
    async putTaskToken(runId, phase, token) {
      const { tokens } = must(runId);
      tokens.set(phase, new Set([...(tokens.get(phase) ?? []), token]));
    },
    findTaskTokens: async (runId, phase) => [...(rows.get(runId)?.tokens.get(phase) ?? [])],
    async beginAttempt(runId, attempt) {
      const found = training(runId);
      if (!found || found.attempts.has(attempt.attempt)) return false;
      found.attempts.set(attempt.attempt, attempt);
      const { startedAt: at } = attempt;
      found.run = { ...found.run, status: "queued", queuedAt: at, updatedAt: at };
      return true;
    },
    async takeOverAttempt(runId, number, claimedAt, at) {
      const attempt = training(runId)?.attempts.get(number);
      if (attempt?.status !== "submitting" || attempt.claimedAt !== claimedAt) return false;
      must(runId).attempts.set(number, { ...attempt, claimedAt: at });
      return true;
    },
    async recordJob(runId, number, jobId) {
      const attempt = training(runId)?.attempts.get(number);
      if (attempt?.status !== "submitting") return false;
      must(runId).attempts.set(number, { ...attempt, status: "submitted", jobId });
      return true;
    },
    async completeAttempt(runId, number, { status, reason, at, jobId, usage }) {
      const attempt = rows.get(runId)?.attempts.get(number);
      if (attempt?.status !== "submitting" && attempt?.status !== "submitted") return false;
      const ended = { ...attempt, status, endedAt: at, ...(reason === undefined ? {} : { reason }) };
      must(runId).attempts.set(number, {
        ...ended,
        ...(jobId === undefined ? {} : { jobId }),
        ...(usage === undefined ? {} : { usage }),
      });
      if (usage) {
        const month = months.get(monthOf(at)) ?? noUsage;
        months.set(monthOf(at), {
          workerSeconds: month.workerSeconds + usage.workerSeconds,
          gpuSeconds: month.gpuSeconds + usage.gpuSeconds,
          estimatedUsd: month.estimatedUsd + (usage.estimatedUsd ?? 0),
        });
      }
      return true;
    },
    monthUsage: async (month) => months.get(month) ?? noUsage,
    async recordWorker(runId, worker) {
      const { workers } = must(runId);
      const before = workers.get(worker.workerIndex);
      if (before && orderOf(before) >= orderOf(worker)) return { newer: false };
      workers.set(worker.workerIndex, worker);
      return { newer: true, before };
    },
    async recordMachine(runId, machine) {
      const { machines } = must(runId);
      if (!machines.has(machine.memberId)) machines.set(machine.memberId, machine);
    },
    async recordInterruptionNotice(runId, memberId, at) {
      const { machines } = must(runId);
      const machine = machines.get(memberId);
      if (!machine || machine.interruptionNoticeAt !== undefined) return false;
      machines.set(memberId, { ...machine, interruptionNoticeAt: at });
      return true;
    },
    async recordRecovery(runId, recovery) {
      const { recoveries } = must(runId);
      const known = recoveries.get(recovery.generation);
      if (known && (known.seconds !== undefined || recovery.seconds === undefined)) return false;
      recoveries.set(recovery.generation, recovery);
      return true;
    },
    async recordWarning(runId, warning) {
      must(runId).warnings.set(warning.code, warning);
    },
    async recordProgress(runId, progress) {
      const found = must(runId);
      const known = found.progress;
      const older =
        known &&
        (known.generation > progress.generation ||
          (known.generation === progress.generation && known.step > progress.step));
      if (!older) found.progress = progress;
    },
  };
}

function orderOf(worker: WorkerRecord): number {
  return (worker.attempt ?? 1) * 100_000 + worker.attempts.length * 100 + statusOrder.indexOf(worker.status);
}
