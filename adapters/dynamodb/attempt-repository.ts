import { type MonthUsage, monthOf } from "../../core/runs/attempts";
import type { AllRuns } from "../../core/runs/run-repository";
import type { Phase } from "../../core/runs/run-states";
import { absent, ex } from "./expression";
import type { Key, Table, Write } from "./table";

/** The number of retries after a conflict. All attempts of a team in one month update the same row. */
const rounds = 10;

const monthKey = (team: string, month: string) => ({ pk: `TEAM#${team}#USAGE`, sk: `MONTH#${month}` });

/** Stores the rows `ATTEMPT#<4 digits>` of a run (docs/access-patterns.md, "Runs"). */
export function createAttemptRepository(
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
          ex`SET #record.#status = ${"submitted"}, #record.jobId = ${jobId}`,
          ex`#record.#status = ${"submitting"}`,
        ),
      ),

    completeAttempt(team, runId, attempt, { status, reason, at, jobId, usage }) {
      const row = table.updating(
        attemptKey(runId, attempt),
        ex`SET #record.#status = ${status}, #record.endedAt = ${at}${
          reason === undefined ? ex`` : ex`, #record.reason = ${reason}`
        }${jobId === undefined ? ex`` : ex`, #record.jobId = ${jobId}`}${
          usage === undefined ? ex`` : ex`, #record.#usage = ${usage}`
        }`,
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
