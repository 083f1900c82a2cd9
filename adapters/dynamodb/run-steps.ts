import * as z from "zod";
import type { TrainingProgress } from "../../core/runs/progress";
import type { RunSteps } from "../../core/runs/run-repository";
import { phases } from "../../core/runs/run-states";
import {
  type MachineRecord,
  type RecoveryRecord,
  type Run,
  type RunDetails,
  run,
  type StepRecord,
  type TrainingAttempt,
  type WorkerRecord,
} from "../../core/runs/shapes";
import type { Warning } from "../../core/shapes";
import { teamRunPhases } from "../../core/tracking/records/team-runs";
import { catalog } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { runChanges } from "./run-changes";
import { runIdentities } from "./run-identities";
import { readSteps } from "./step-records";
import { catalogPort, ex, exists, type Item, recordOf, type Table } from "./table";

const partition = (runId: string): string => `RUN#${runId}`;
export const runIdOf = (pk: string): string => pk.slice(partition("").length);
export const runKey = (runId: string, sk: string) => ({ pk: partition(runId), sk });
export const stillOpen = ex`${exists} AND #status IN (${"queued"}, ${"running"})`;

export function createRunSteps(table: Table): RunSteps {
  async function find(runId: string): Promise<Run | undefined> {
    const item = await table.get(runKey(runId, "RUN"));
    return item && readableRunOf(item);
  }

  return {
    find,

    findDetails: async (runId) => detailsOf(await table.all(ex`pk = ${partition(runId)}`)),

    enterPhase(runId, phase, at) {
      const order = phases.indexOf(phase);
      return table.update(
        runKey(runId, "RUN"),
        ex`SET #status = ${"running"}, phase = ${phase}, phaseOrder = ${order}, updatedAt = ${at}`,
        ex`${stillOpen} AND (attribute_not_exists(phaseOrder) OR phaseOrder <= ${order})`,
      );
    },

    async goBack(runId, from, to, at) {
      await table.update(
        runKey(runId, "RUN"),
        ex`SET phase = ${to}, phaseOrder = ${phases.indexOf(to)}, updatedAt = ${at}`,
        ex`${stillOpen} AND phase = ${from}`,
      );
    },

    async recordStep(runId, record) {
      await table.put({ ...runKey(runId, `STEP#${record.step}`), record });
    },

    async putTaskToken(runId, phase, token) {
      await table.update(runKey(runId, `TOKEN#${phase}`), ex`ADD tokens ${new Set([token])}`);
    },

    async findTaskTokens(runId, phase) {
      const item = await table.get(runKey(runId, `TOKEN#${phase}`));
      return [...((item?.["tokens"] as ReadonlySet<string> | undefined) ?? [])];
    },
  };
}

/** The fields of a run on which every reader relies. The whole schema takes milliseconds for a job. */
const readable = z.looseObject({
  ...run.pick({ runId: true, team: true, status: true, dataset: true, createdBy: true, createdAt: true }).shape,
  code: z.looseObject({}),
  job: z.looseObject({ experiment: z.string(), model: z.looseObject({}), hyperparameters: z.looseObject({}) }),
});

/** Returns the run that a row `RUN` holds; `undefined` if the row is damaged. */
export function readableRunOf(item: Item): Run | undefined {
  const run = runOf(item);
  return readable.safeParse(run).success ? run : undefined;
}

function runOf(item: Item): Run {
  const { status, phase, updatedAt, endedAt, failure, outcome } = item;
  const { segment, pauseAt, pausedAt, workers, queuedAt, queuedMs } = item;
  const ofSegment = { segment, pauseAt, pausedAt, workers, queuedAt, queuedMs };
  return { ...(item["data"] as object), status, phase, updatedAt, endedAt, failure, outcome, ...ofSegment } as Run;
}

function detailsOf(items: readonly Item[]): RunDetails | undefined {
  const row = items.find((item) => item["sk"] === "RUN");
  const run = row && readableRunOf(row);
  if (!run) return undefined;
  const records = <T>(prefix: string): T[] =>
    items.filter((item) => (item["sk"] as string).startsWith(prefix)).map((item) => recordOf<T>(item));
  const recorded = records<StepRecord>("STEP#").sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  const { steps, warnings } = readSteps(recorded);
  return {
    run,
    steps,
    attempts: records<TrainingAttempt>("ATTEMPT#"),
    workers: records<WorkerRecord>("WORKER#"),
    machines: records<MachineRecord>("MACHINE#"),
    recoveries: records<RecoveryRecord>("RECOVERY#"),
    warnings: [...warnings, ...records<Warning>("WARNING#")],
    progress: records<TrainingProgress>("PROGRESS")[0],
    endPublished: items.find((item) => item["sk"] === "OPEN")?.["endPublished"] as true | undefined,
  };
}

export const allRunSteps = catalogPort(createRunSteps);

export const runPhases = teamPort({
  uses: { all: allRunSteps(), identities: runIdentities("read"), changes: runChanges("mark") },
  grants: { use: [catalog("GetItem", "Query", "UpdateItem")] },
  make: ({ all, ...ports }, { team }) => teamRunPhases(all, team, ports),
});

export const runReads = teamPort({
  uses: { all: allRunSteps() },
  grants: { find: [catalog("GetItem")], details: [catalog("Query")] },
  make: ({ all }, { team }): Pick<RunSteps, "find" | "findDetails"> => ({
    async find(runId) {
      const run = await all.find(runId);
      return run?.team === team ? run : undefined;
    },
    async findDetails(runId) {
      const details = await all.findDetails(runId);
      return details?.run.team === team ? details : undefined;
    },
  }),
});
